// Package envelope carries the state of one vendor through clients of another vendor's
// format. State is data that a vendor requires in the next request: the signature of a
// thinking block or tool call, or a redacted thinking block. Clients cannot
// interpret the state of other vendors. Therefore the handler encodes it as an
// envelope, in a field that the client returns unaltered. An envelope holds all of its
// state; nothing is stored between two requests.
//
// An envelope is the text "pw1.<format>.<checksum>.<kind><data>". [EncodeBase64]
// encodes it for fields that hold bytes, and [EncodeID] for ids of tool calls. The
// data is a signature, or the list of [EncodeThinking]. Each [Kind] defines which
// part it belongs to.
//
// # From the vendor to the client and back
//
// Gemini signs a tool call, and the client uses the Messages format:
//
//  1. The Gemini adapter reads the thoughtSignature "Ci==" of the call "fc-1". It
//     sends a neutral call with {Format: "generatecontent", Data: "Ci=="}.
//  2. The Messages handler finds that the signature [IsForeign]. It sends the call
//     with the id "toolu_pwsig_…", which encodes the format, "fc-1" and "Ci==".
//  3. The client returns that id with the call and with its result.
//  4. The handler decodes it ([DecodeTurns]). The neutral request has the call
//     "fc-1" with the signature of step 1, and the result of "fc-1".
//  5. The Gemini adapter finds a signature of its own format and sends it as
//     thoughtSignature. Any other adapter drops it as a loss.
//
// Claude signs thinking, and the client uses generateContent: the handler collects
// the thinking in a [Pending] and sends it in the thoughtSignature of the next tool
// call, since some clients return nothing else. The neutral request has the data of
// [EncodeThinking] as the signature of the call, and the Messages adapter puts the
// thinking before the call again ([Restore]).
//
// # Trust
//
// The checksum detects damage, such as clients that cut or alter ids. It has no
// key: a client can make up an envelope. Decoded state is therefore input of the
// client, and must never become a tool, an instruction, an approval or a setting. The
// parsers count it as the parts and the memory that it becomes ([Envelope.States]).
// An envelope that exceeds [MaxSize] is damaged, because none is encoded.
package envelope

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"github.com/polywire/polywire/content"
)

// A Kind defines what the data of an envelope is, and which part it belongs to.
type Kind byte

const (
	KindPart     Kind = 's' // the signature or redacted data of the part that holds the envelope
	KindThinking Kind = 't' // the thinking before the part that holds the envelope: see EncodeThinking
	KindCall     Kind = 'c' // the id and signature of a tool call after the thinking block that holds the envelope: see EncodeCall
)

// Unsigned is the envelope for thinking that no vendor has signed. Messages clients
// and vendors refuse an empty signature. It decodes to the kind KindPart and
// UnsignedFormat. UnsignedBase64 is the same in base64.
var (
	Unsigned, _       = Encode(UnsignedFormat, KindPart, "")
	UnsignedBase64, _ = EncodeBase64(UnsignedFormat, KindPart, "")
)

// UnsignedFormat is the format of Unsigned. No vendor has it.
const UnsignedFormat content.Format = "unsigned"

const (
	prefix  = "pw1."
	sumSize = 16

	// MaxSize bounds the data of an envelope, in bytes.
	MaxSize = 4 << 20
)

// An Envelope is a decoded envelope.
type Envelope struct {
	Format content.Format // of the vendor
	Kind   Kind
	Data   string
}

// Encode returns an envelope. It returns false if data exceeds [MaxSize], or if the
// format is empty, has a dot or a space, or exceeds 256 bytes.
func Encode(f content.Format, k Kind, data string) (string, bool) {
	if len(data) > MaxSize || !hasName(f) || len(f) > maxInnerID {
		return "", false
	}
	payload := string(rune(k)) + data
	return prefix + string(f) + "." + checksum(f, payload) + "." + payload, true
}

// EncodeBase64 returns an envelope in padded standard base64.
func EncodeBase64(f content.Format, k Kind, data string) (string, bool) {
	s, ok := Encode(f, k, data)
	if !ok {
		return "", false
	}
	return base64.StdEncoding.EncodeToString([]byte(s)), true
}

// EncodeCall returns an envelope of the kind [KindCall], with the signature of the
// tool call that has an id. It returns false if the signature is too large, or if
// the id has a dot.
func EncodeCall(s content.Signature, id string) (string, bool) {
	if strings.Contains(id, ".") {
		return "", false
	}
	return Encode(s.Format, KindCall, id+"."+s.Data)
}

// CallSignature returns the id and the signature in an envelope of the kind
// [KindCall].
func (e Envelope) CallSignature() (id string, s content.Signature) {
	id, data, _ := strings.Cut(e.Data, ".")
	return id, content.Signature{Format: e.Format, Data: data}
}

// IsEnvelope reports whether s has the prefix of an envelope. It may be damaged.
func IsEnvelope(s string) bool { return strings.HasPrefix(s, prefix) }

// Decode decodes an envelope. It returns false if s is damaged or anything else.
func Decode(s string) (Envelope, bool) {
	rest, ok := strings.CutPrefix(s, prefix)
	if !ok {
		return Envelope{}, false
	}
	format, rest, _ := strings.Cut(rest, ".")
	sum, payload, ok := strings.Cut(rest, ".")
	f := content.Format(format)
	if !ok || payload == "" || len(payload) > 1+MaxSize || sum != checksum(f, payload) {
		return Envelope{}, false
	}
	switch k := Kind(payload[0]); k {
	case KindPart, KindThinking, KindCall:
		return Envelope{f, k, payload[1:]}, true
	}
	return Envelope{}, false
}

// base64Prefix is the prefix of every envelope in base64, in both alphabets.
const base64Prefix = "cHcxL"

// IsEnvelopeBase64 is [IsEnvelope] for base64.
func IsEnvelopeBase64(s string) bool { return strings.HasPrefix(s, base64Prefix) }

// maxBase64 bounds an envelope in base64, in bytes: that of data of MaxSize, and of a
// format whose name is not longer than maxInnerID.
const maxBase64 = (len(prefix) + maxInnerID + sumSize + 3 + MaxSize + 2) / 3 * 4

// DecodeBase64 decodes an envelope in base64 of either alphabet, padded or not.
func DecodeBase64(s string) (Envelope, bool) {
	if !IsEnvelopeBase64(s) || len(s) > maxBase64 {
		return Envelope{}, false
	}
	s = strings.TrimRight(s, "=")
	if strings.ContainsAny(s, "-_") {
		s = strings.NewReplacer("-", "+", "_", "/").Replace(s)
	}
	text, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		return Envelope{}, false
	}
	return Decode(string(text))
}

// hasName reports whether an envelope can encode a format.
func hasName(f content.Format) bool { return f != "" && !strings.ContainsAny(string(f), ". ") }

// checksum returns the checksum of an envelope. It detects damage, not forgery.
func checksum(f content.Format, payload string) string {
	h := sha256.New()
	h.Write([]byte(f))
	h.Write([]byte{0})
	h.Write([]byte(payload))
	return hex.EncodeToString(h.Sum(nil))[:sumSize]
}
