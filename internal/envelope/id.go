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
)

// Every client returns the id of a tool call as it received it, on the call and
// on its result, also those clients that drop thinking blocks. So the state that
// a vendor needs back with a call can travel in the id:
//
//	toolu_pwsig_<base64url of: checksum kind flags format id data>
//
// The checksum comes first, so that ids which a client cuts differ early. The
// state of a call can also travel in a thinking block. The id of such a call is
// marked, which shows whether a client returned the block:
//
//	toolu_pwblk_<id>
const (
	idPrefix     = "toolu_pwsig_"
	markPrefix   = "toolu_pwblk_"
	brokenPrefix = "toolu_pwcut_"
)

const (
	// MaxID bounds an encoded id, in bytes.
	MaxID = 64 << 10

	maxInnerID  = 256 // bytes of the id inside
	maxMarkedID = 63  // bytes of a marked id: a tool result is often saved in a file that is named after it
	maxPlainID  = 40  // bytes of an id that every vendor accepts

	idSumLen = 6
)

// ID is the kind of an envelope that holds no state.
const ID Kind = 'i'

// flagPacked marks data that is base64 and is stored as the bytes it stands for.
const flagPacked = 1

// idFormats are the formats that an id stores as one byte, their index. The
// name of any other format follows namedFormat.
var idFormats = [...]content.Format{"", "generatecontent", "messages", "openai-chat", "openai-responses"}

const namedFormat = 0xFF

// EncodeID returns an id that carries e beside the id of a tool call. e.Kind is
// Own, Thoughts or ID. It returns false if the result would exceed [MaxID], or if
// id is empty, longer than 256 bytes, not valid UTF-8, or has control characters.
// The result matches ^[a-zA-Z0-9_-]+$.
func EncodeID(id string, e Envelope) (string, bool) {
	if !encodable(id) || e.Format != "" && !nameable(e.Format) || len(e.Format) > maxInnerID || len(e.Data) > MaxID {
		return "", false
	}
	b := make([]byte, idSumLen, idSumLen+16+len(e.Format)+len(id)+len(e.Data))
	data, packed := pack(e.Data)
	b = append(b, byte(e.Kind), packed)
	b = appendFormat(b, e.Format)
	b = binary.AppendUvarint(b, uint64(len(id)))
	b = append(append(b, id...), data...)
	n := base64.RawURLEncoding.EncodedLen(len(b))
	if len(idPrefix)+n > MaxID {
		return "", false
	}
	sum := sha256.Sum256(b[idSumLen:])
	copy(b[:idSumLen], sum[:])
	return idPrefix + base64.RawURLEncoding.EncodeToString(b), true
}

// DecodeID decodes what EncodeID returned. It returns false if s is damaged, or
// anything else.
func DecodeID(s string) (id string, e Envelope, ok bool) {
	rest, ok := strings.CutPrefix(s, idPrefix)
	if !ok || len(s) > MaxID {
		return "", e, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(rest)
	if err != nil || len(b) < idSumLen+4 || strings.ContainsAny(rest, "\r\n") {
		return "", e, false
	}
	if sum := sha256.Sum256(b[idSumLen:]); string(sum[:idSumLen]) != string(b[:idSumLen]) {
		return "", e, false
	}
	e.Kind = Kind(b[idSumLen])
	flags := b[idSumLen+1]
	e.Format, b, ok = cutFormat(b[idSumLen+2:])
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
	case e.Kind == ID && e.Format == "" && e.Data == "",
		(e.Kind == Own || e.Kind == Thoughts) && nameable(e.Format) && e.Data != "" && utf8.ValidString(e.Data):
		return id, e, true
	}
	return "", Envelope{}, false
}

// EncodedID reports whether s claims to be the result of EncodeID.
func EncodedID(s string) bool { return strings.HasPrefix(s, idPrefix) }

// MarkID returns the id for a call whose state is in a thinking block. It is
// shorter than 64 bytes. It returns false for ids that are too long or that have
// other characters than letters, digits, "_" and "-".
func MarkID(id string) (string, bool) {
	if len(markPrefix)+len(id) > maxMarkedID || !PlainID(id) || ReservedID(id) {
		return "", false
	}
	return markPrefix + id, true
}

// MarkedID returns the id that MarkID marked.
func MarkedID(s string) (id string, ok bool) {
	id, ok = strings.CutPrefix(s, markPrefix)
	return id, ok && id != ""
}

// ReservedID reports whether an id of a vendor would be read as one that is
// encoded or marked, such as that of another gateway. It has to be encoded.
func ReservedID(id string) bool {
	return strings.HasPrefix(id, idPrefix) || strings.HasPrefix(id, markPrefix)
}

// PlainID reports whether id matches ^[a-zA-Z0-9_-]+$, as clients and vendors of
// Messages demand of the ids of calls.
func PlainID(id string) bool {
	for i := range len(id) {
		switch c := id[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return id != ""
}

// DamagedID returns the id that replaces an encoded id which a client cut or
// altered: s itself if every vendor accepts its length, else a hash of it. It
// depends on s only, so that a call and its result still match.
func DamagedID(s string) string {
	if len(s) <= maxPlainID {
		return s
	}
	return HashedID(s)
}

// HashedID returns an id of 36 bytes that depends on s only.
func HashedID(s string) string {
	sum := sha256.Sum256([]byte(s))
	return brokenPrefix + hex.EncodeToString(sum[:12])
}

// encodable reports whether an id can be inside another one.
func encodable(id string) bool {
	return id != "" && len(id) <= maxInnerID && utf8.ValidString(id) && !strings.ContainsFunc(id, unicode.IsControl)
}

// pack returns the bytes that data stands for if it is standard base64 that can
// be restored letter by letter, else data itself.
func pack(data string) (packed []byte, flags byte) {
	if b, err := base64.StdEncoding.Strict().DecodeString(data); err == nil && len(b) > 0 && !strings.ContainsAny(data, "\r\n") {
		return b, flagPacked
	}
	return []byte(data), 0
}

func appendFormat(b []byte, f content.Format) []byte {
	for i, known := range idFormats {
		if f == known {
			return append(b, byte(i))
		}
	}
	b = binary.AppendUvarint(append(b, namedFormat), uint64(len(f)))
	return append(b, f...)
}

func cutFormat(b []byte) (f content.Format, rest []byte, ok bool) {
	switch {
	case len(b) == 0:
		return "", nil, false
	case int(b[0]) < len(idFormats):
		return idFormats[b[0]], b[1:], true
	case b[0] != namedFormat:
		return "", nil, false
	}
	n, size := binary.Uvarint(b[1:])
	if size <= 0 || n > maxInnerID || n > uint64(len(b)-1-size) {
		return "", nil, false
	}
	b = b[1+size:]
	return content.Format(b[:n]), b[n:], true
}
