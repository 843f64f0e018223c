package openaiformat

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/upstream"
)

func TestDecodeModels(t *testing.T) {
	got, err := DecodeModels("openai-chat", `{"object":"list","data":[{"id":"gpt-6.2-sol","object":"model","created":1794873600,"shutdown_date":null},{"id":"qwen3:8b","max_model_len":4096},{"object":"model"}]}`)
	want := []upstream.Model{{ID: "gpt-6.2-sol", Created: time.Unix(1794873600, 0).UTC()}, {ID: "qwen3:8b", MaxInput: 4096}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	got, err = DecodeModels("openai-chat", `{"data":[{"id":"/models/a.gguf","meta":{"n_ctx_train":8192},"architecture":{"input_modalities":["text"]}},{"id":"maker/b:free","created":1.5e9,"context_length":2048}]}`)
	want = []upstream.Model{{ID: "/models/a.gguf", MaxInput: 8192}, {ID: "maker/b:free", Created: time.Unix(1500000000, 0).UTC(), MaxInput: 2048}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("bare: %v (-want +got):\n%s", err, diff)
	}
	for _, none := range []string{`{"object":"list","data":null}`, `{"data":[]}`, `[]`} {
		if got, err := DecodeModels("openai-chat", none); len(got) != 0 || err != nil {
			t.Errorf("%s: %v, %v", none, got, err)
		}
	}
	for _, bad := range []string{"", "<html>", `{"error":{"message":"no"}}`, `{"object":"error","message":"no"}`, `{"detail":"Not Found"}`} {
		if got, err := DecodeModels("openai-chat", bad); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}
