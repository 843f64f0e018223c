package fake

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
)

// Sum returns the digest for a signature, which only the fakes can make.
func Sum(parts ...[]byte) []byte {
	h := hmac.New(sha256.New, []byte("the fake's own secret"))
	for _, p := range parts {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(p))))
		h.Write(p)
	}
	return h.Sum(nil)
}
