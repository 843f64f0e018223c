package generatecontent_test

import (
	"fmt"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/upstream"
)

func ExampleParseRequest() {
	r, err := generatecontent.ParseRequest([]byte(`{"contents":{"parts":{"text":"Capital of Peru?"}},"generation_config":{"max_output_tokens":20}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Contents[0].Parts[0].(*content.Text).Text, *r.GenerationConfig.MaxOutputTokens)
	canonical, err := r.AppendJSON(nil)
	fmt.Println(string(canonical), err)
	// Output:
	// Capital of Peru? 20
	// {"contents":[{"role":"user","parts":[{"text":"Capital of Peru?"}]}],"generationConfig":{"maxOutputTokens":20}} <nil>
}

// A batch worker sends a request on byte for byte, for a model of its choice. A copy that it
// changes is encoded.
func ExampleDecodeRequest() {
	body := []byte(`{ "contents": [{"parts": [{"text": "Capital of Peru?"}]}], "generation_config": {"temperature": 1.0} }`)
	r, _, err := generatecontent.DecodeRequest(body, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	r = r.WithModel("gemini-3.8-flash") // a copy: the model is in the URL, not in the document
	document, ok := upstream.WireOf(r, generatecontent.Format)
	fmt.Println(ok, document == string(body))
	short := r.Clone()
	short.MaxTokens = new(int64(20))
	_, ok = upstream.WireOf(short, generatecontent.Format)
	fmt.Println(ok)
	// Output:
	// true true
	// false
}

func ExampleParseCountRequest() {
	r, err := generatecontent.ParseCountRequest([]byte(`{"generateContentRequest":{"model":"models/m","contents":[{"parts":[{"text":"How long?"}]}]}}`))
	if err == nil {
		err = r.Validate(&generatecontent.ValidateOptions{Count: true})
	}
	fmt.Println(r.Model, err)
	// Output: models/m <nil>
}

func ExampleRequest_Validate() {
	r, _ := generatecontent.ParseRequest([]byte(`{"contents":[{"role":"user","parts":[]}],"generationConfig":{"topK":"many"}}`))
	list, _ := content.Violations(r.Validate(nil))
	for _, e := range list {
		fmt.Printf("%s at %s: %s\n", e.Code, e.Path, e.Text)
	}
	// Output:
	// type at generation_config.top_k: Invalid value at 'generation_config.top_k' (TYPE_INT32), "many"
	// missing at contents[0].parts: contents.parts must not be empty
}

func ExampleRequestFromUpstream() {
	r, losses, err := generatecontent.RequestFromUpstream(&upstream.Request{
		Turns:    []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "Hi"}}}},
		Thinking: upstream.Thinking{Effort: "max"},
	})
	if err != nil {
		panic(err)
	}
	doc, err := r.AppendJSON(nil)
	fmt.Println(string(doc), err)
	for _, l := range losses {
		fmt.Println(l.Severity, l.Path)
	}
	// Output:
	// {"contents":[{"role":"user","parts":[{"text":"Hi"}]}],"generationConfig":{"thinkingConfig":{"thinkingLevel":"HIGH"}}} <nil>
	// degraded thinking.effort
}
