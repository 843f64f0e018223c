package content_test

import (
	"errors"
	"testing"

	"github.com/polywire/polywire/content"
)

func TestBase64(t *testing.T) {
	good := &content.Base64{Data: "aGk"}
	if b, err := good.Bytes(); string(b) != "hi" || err != nil {
		t.Errorf("Bytes = %q, %v; want hi", b, err)
	}
	bad := &content.Base64{Data: "aG k"}
	var v *content.Violation
	if _, err := bad.Bytes(); !errors.As(err, &v) || v.Code != content.CodeMedia || v.Path != "" {
		t.Errorf("Bytes: the error is %v, want a violation with CodeMedia", err)
	}
}
