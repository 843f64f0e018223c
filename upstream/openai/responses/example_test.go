package responses_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/upstream/openai/responses"
)

// A handler that stores responses in memory: a client continues a conversation with the id of the last
// response.
func ExampleNewMemoryStore() {
	store := responses.NewMemoryStore(64 << 20)
	h := responses.NewHandler(greeter, &responses.Options{Store: store})

	post := func(body string) gjson.Result {
		r := httptest.NewRequest(http.MethodPost, "/v1/responses", strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer key-of-the-client")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return gjson.Parse(w.Body.String())
	}
	first := post(`{"model":"demo","input":"Hi"}`)
	second := post(`{"model":"demo","input":"Again","previous_response_id":"` + first.Get("id").Str + `"}`)
	fmt.Println(first.Get("store"), second.Get("status"), second.Get("previous_response_id").Str == first.Get("id").Str)
	// Output: true completed true
}
