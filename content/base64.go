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
