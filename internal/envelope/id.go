package envelope

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
)

// Every client returns the id of a tool call unaltered, with the call and with its
// result. This includes clients that drop thinking blocks. Therefore an id can
// carry state:
//
//	toolu_pwsig_<base64url of: checksum kind flags format id data>
//
// The checksum comes first: two ids that a client cuts still differ. The state of
// a call can also be in a thinking block. The id of that call is marked, which
// shows whether the client returned the block:
//
//	toolu_pwblk_<id>
const (
	idPrefix      = "toolu_pwsig_"
	markPrefix    = "toolu_pwblk_"
	damagedPrefix = "toolu_pwcut_"
)

const (
	// MaxIDSize bounds an encoded id, in bytes.
	MaxIDSize = 64 << 10

	maxInnerID  = 256 // bytes of the id of the vendor
	maxMarkedID = 63  // bytes of a marked id; clients use ids as file names
	maxPlainID  = 40  // bytes of an id that every vendor accepts

	idSumSize = 6
)

// KindIDOnly is the kind of an encoded id without state.
const KindIDOnly Kind = 'i'

// flagPacked marks data that was base64 and is encoded as its decoded bytes.
const flagPacked = 1

// An id has the number of a format if there is one (see [foreign.Number]), 0 for none, and
// otherwise namedFormat and its name.
const (
	noFormat    = 0
	namedFormat = 0xFF
)

// EncodeID returns an id that holds the id of a tool call and e. e.Kind is KindPart,
// KindThinking or KindIDOnly. The result matches ^[a-zA-Z0-9_-]+$. EncodeID returns
// false if the result exceeds [MaxIDSize], or if id is empty, longer than 256
// bytes, not valid UTF-8, or has control characters.
func EncodeID(id string, e Envelope) (string, bool) {
	if !encodable(id) || e.Format != "" && !hasName(e.Format) || len(e.Format) > maxInnerID || len(e.Data) > MaxIDSize {
		return "", false
	}
	b := make([]byte, idSumSize, idSumSize+16+len(e.Format)+len(id)+len(e.Data))
	data, packed := pack(e.Data)
	b = append(b, byte(e.Kind), packed)
	b = appendFormat(b, e.Format)
	b = binary.AppendUvarint(b, uint64(len(id)))
	b = append(append(b, id...), data...)
	n := base64.RawURLEncoding.EncodedLen(len(b))
	if len(idPrefix)+n > MaxIDSize {
		return "", false
	}
	sum := sha256.Sum256(b[idSumSize:])
	copy(b[:idSumSize], sum[:])
	return idPrefix + base64.RawURLEncoding.EncodeToString(b), true
}

// DecodeID decodes the result of [EncodeID]. It returns false if s is damaged or
// anything else.
func DecodeID(s string) (id string, e Envelope, ok bool) {
	rest, ok := strings.CutPrefix(s, idPrefix)
	if !ok || len(s) > MaxIDSize {
		return "", e, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(rest)
	if err != nil || len(b) < idSumSize+4 || strings.ContainsAny(rest, "\r\n") {
		return "", e, false
	}
	if sum := sha256.Sum256(b[idSumSize:]); string(sum[:idSumSize]) != string(b[:idSumSize]) {
		return "", e, false
	}
	e.Kind = Kind(b[idSumSize])
	flags := b[idSumSize+1]
	e.Format, b, ok = cutFormat(b[idSumSize+2:])
	if !ok || flags > flagPacked {
		return "", Envelope{}, false
	}
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) {
		return "", Envelope{}, false
	}
	id, b = string(b[size:size+int(n)]), b[size+int(n):]
	if e.Data = string(b); flags == flagPacked {
		e.Data = base64.StdEncoding.EncodeToString(b)
	}
	switch {
	case !encodable(id):
	case e.Kind == KindIDOnly && e.Format == "" && e.Data == "",
		(e.Kind == KindPart || e.Kind == KindThinking) && hasName(e.Format) && e.Data != "" && utf8.ValidString(e.Data):
		return id, e, true
	}
	return "", Envelope{}, false
}

// MarkID returns the id for a tool call whose state is in a thinking block. It is
// shorter than 64 bytes. MarkID returns false if id is too long, or if it does not
// match ^[a-zA-Z0-9_-]+$.
func MarkID(id string) (string, bool) {
	if len(markPrefix)+len(id) > maxMarkedID || !codec.IsName(id) || IsReservedID(id) {
		return "", false
	}
	return markPrefix + id, true
}

// UnmarkID returns the id that [MarkID] marked.
func UnmarkID(s string) (id string, ok bool) {
	id, ok = strings.CutPrefix(s, markPrefix)
	return id, ok && id != ""
}

// CountID counts the state that the id of a tool call carries, for a parser with a quota.
func CountID(q *codec.Quota, id string) {
	if q.Exceeded() || !IsReservedID(id) {
		return
	}
	_, e, _ := DecodeID(id)
	q.State(e.States(q.PartsLeft()), len(id))
}

// IsReservedID reports whether id has the prefix of an encoded or a marked id. A
// vendor that is another gateway may send such ids; they must be encoded.
func IsReservedID(id string) bool {
	return strings.HasPrefix(id, idPrefix) || strings.HasPrefix(id, markPrefix)
}

// DamagedID returns the id that replaces an encoded id which a client altered: s
// itself if every vendor accepts its length, otherwise [HashedID]. The result
// depends on s only; a call and its result still match.
func DamagedID(s string) string {
	if len(s) <= maxPlainID {
		return s
	}
	return HashedID(s)
}

// HashedID returns an id of 36 bytes that depends on s only.
func HashedID(s string) string {
	sum := sha256.Sum256([]byte(s))
	return damagedPrefix + hex.EncodeToString(sum[:12])
}

// encodable reports whether EncodeID accepts an id.
func encodable(id string) bool {
	return id != "" && len(id) <= maxInnerID && utf8.ValidString(id) && !strings.ContainsFunc(id, unicode.IsControl)
}

// pack returns the decoded bytes of data if data is standard base64 that can be
// restored byte for byte, otherwise data itself.
func pack(data string) (packed []byte, flags byte) {
	if b, err := base64.StdEncoding.Strict().DecodeString(data); err == nil && len(b) > 0 && !strings.ContainsAny(data, "\r\n") {
		return b, flagPacked
	}
	return []byte(data), 0
}

func appendFormat(b []byte, f content.Format) []byte {
	if n, ok := foreign.Number(f); ok {
		return append(b, n)
	}
	if f == "" {
		return append(b, noFormat)
	}
	b = binary.AppendUvarint(append(b, namedFormat), uint64(len(f)))
	return append(b, f...)
}

func cutFormat(b []byte) (f content.Format, rest []byte, ok bool) {
	switch {
	case len(b) == 0:
		return "", nil, false
	case b[0] == noFormat:
		return "", b[1:], true
	case b[0] != namedFormat:
		f, ok = foreign.Numbered(b[0])
		return f, b[1:], ok
	}
	n, size := binary.Uvarint(b[1:])
	if size <= 0 || n > maxInnerID || n > uint64(len(b)-1-size) {
		return "", nil, false
	}
	b = b[1+size:]
	return content.Format(b[:n]), b[n:], true
}
