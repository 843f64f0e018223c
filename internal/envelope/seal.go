// Package envelope carries what one vendor needs back through clients of another
// format, in fields that these clients return as they got them: signatures.
//
// Between a front and an adapter a signature is plain, and its Format says
// whose it is. A front that has to tell one of another format seals it, and
// opens what comes back. Replicas share nothing and remember nothing, so what
// is sealed is whole: a call that stands for lost thoughts carries them.
//
// The checksum of an envelope finds damage, such as by clients that cut or alter
// what they were given. It proves nothing of where an envelope comes from: it
// has no key, so whoever knows this package can make one. What is opened is
// therefore a client's word as all else in its request is, and adapters make no
// more of it than a client can say anyway: a signature or the data of a thought,
// which vendors check by themselves, the text of an earlier thought, the phase of
// a text, or an item that tells what a vendor's own tool did, as a result tells
// what a function did. It never becomes a tool, an instruction, an approval or a
// member of the request, so that what a host forbids or changes there stays so.
package envelope

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"github.com/polywire/polywire/content"
)

// A Kind says what sealed data is about.
type Kind byte

const (
	Own      Kind = 's' // the signature, or the redacted thought, of the very part that holds it
	Next     Kind = 'n' // the signature of the text behind the part that holds it
	Last     Kind = 'p' // the signature of the text in front of the part that holds it
	NextCall Kind = 'N' // the signature of the call behind the part that holds it
	LastCall Kind = 'P' // the signature of the call in front of the part that holds it
	Alone    Kind = 'e' // the signature of an empty text that stood where the part stands that holds it
	Thoughts Kind = 't' // thoughts in front of the part that holds it: see Join
	Call     Kind = 'c' // the signature of a call behind the part that holds it: see SealCall
)

// Unsigned is the envelope of thinking that no vendor has signed. Clients and
// vendors of Messages do not accept an empty signature. It is opened as Own, of a
// format that no vendor has; UnsignedBase64 is the same in base64.
var (
	Unsigned, _       = Seal(UnsignedFormat, Own, "")
	UnsignedBase64, _ = SealBase64(UnsignedFormat, Own, "")
)

// UnsignedFormat is the format of Unsigned.
const UnsignedFormat content.Format = "unsigned"

// SealCall returns an envelope with the signature of the call that has an id. It
// returns false if the signature is too large, or for an id with a dot.
func SealCall(s content.Signature, id string) (string, bool) {
	if strings.Contains(id, ".") {
		return "", false
	}
	return Seal(s.Format, Call, id+"."+s.Data)
}

// CallOf returns the id and the signature of an envelope of the kind Call.
func (e Envelope) CallOf() (id string, s content.Signature) {
	id, data, _ := strings.Cut(e.Data, ".")
	return id, content.Signature{Format: e.Format, Data: data}
}

const (
	prefix = "pw1."
	sumLen = 16
)

// MaxSize bounds what is sealed. Seal refuses more.
const MaxSize = 4 << 20

// Seal returns an envelope, "pw1.<format>.<checksum>.<kind><data>". It reports
// false if the data is too large, or the format has no name to write.
func Seal(f content.Format, k Kind, data string) (string, bool) {
	if len(data) > MaxSize || !nameable(f) {
		return "", false
	}
	payload := string(rune(k)) + data
	return prefix + string(f) + "." + sum(f, payload) + "." + payload, true
}

// nameable reports whether an envelope can say whose it is.
func nameable(f content.Format) bool { return f != "" && !strings.ContainsAny(string(f), ". ") }

// SealBase64 is Seal for fields that hold bytes in base64. It is padded, and of
// the standard alphabet.
func SealBase64(f content.Format, k Kind, data string) (string, bool) {
	s, ok := Seal(f, k, data)
	if !ok {
		return "", false
	}
	return base64.StdEncoding.EncodeToString([]byte(s)), true
}

// sum is no protection but against damage: see the package.
func sum(f content.Format, payload string) string {
	h := sha256.New()
	h.Write([]byte(f))
	h.Write([]byte{0})
	h.Write([]byte(payload))
	return hex.EncodeToString(h.Sum(nil))[:sumLen]
}

// An Envelope is what was sealed.
type Envelope struct {
	Format content.Format
	Kind   Kind
	Data   string
}

// Sealed reports whether s claims to be an envelope.
func Sealed(s string) bool { return strings.HasPrefix(s, prefix) }

// Open opens an envelope. It reports false if s is damaged, or none at all.
func Open(s string) (Envelope, bool) {
	rest, ok := strings.CutPrefix(s, prefix)
	if !ok {
		return Envelope{}, false
	}
	format, rest, _ := strings.Cut(rest, ".")
	check, payload, ok := strings.Cut(rest, ".")
	f := content.Format(format)
	if !ok || payload == "" || check != sum(f, payload) {
		return Envelope{}, false
	}
	switch k := Kind(payload[0]); k {
	case Own, Next, Last, NextCall, LastCall, Alone, Thoughts, Call:
		return Envelope{f, k, payload[1:]}, true
	}
	return Envelope{}, false
}

// base64Prefix is how every envelope begins in base64, in both alphabets.
const base64Prefix = "cHcxL"

// SealedBase64 is Sealed for base64.
func SealedBase64(s string) bool { return strings.HasPrefix(s, base64Prefix) }

// OpenBase64 opens an envelope in base64 of either alphabet, padded or not.
func OpenBase64(s string) (Envelope, bool) {
	if !SealedBase64(s) {
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
	return Open(string(text))
}
