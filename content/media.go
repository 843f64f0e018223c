package content

import "github.com/polywire/polywire/internal/media"

// Bytes decodes the data, which may be base64 of the standard or the URL-safe alphabet,
// with or without padding. Each call decodes it again. The caller owns the result. The
// error is a [*Violation] without a path.
func (s *Base64) Bytes() ([]byte, error) {
	b, ok := media.File{Data: s.Data}.Bytes()
	if !ok {
		return nil, &Violation{Code: CodeMedia, Text: "invalid base64 data: it " + media.Base64Any.Check(s.Data)}
	}
	return b, nil
}

// DecodePrefix decodes the first len(dst) bytes into dst and returns the number of
// bytes decoded, which is less than len(dst) only if the data is shorter. The error is
// a [*Violation] without a path.
func (s *Base64) DecodePrefix(dst []byte) (int, error) {
	n, ok := media.File{Data: s.Data}.DecodePrefix(dst)
	if !ok {
		return n, &Violation{Code: CodeMedia, Text: "invalid base64 data"}
	}
	return n, nil
}

// SniffLen is the maximum number of leading bytes that [DetectMediaType] examines.
const SniffLen = media.SniffLen

// DetectMediaType returns the media type of a file that begins with the bytes in lead:
// image/png, image/jpeg, image/gif, image/webp or application/pdf. It returns "" for
// any other file, and if lead is too short. It examines at most [SniffLen] bytes.
func DetectMediaType(lead []byte) string { return media.Detect(lead) }
