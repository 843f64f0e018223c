package workload

import (
	"encoding/base64"
	"math/rand/v2"
	"strconv"

	"github.com/polywire/polywire/internal/jsonwire"
)

// The functions in this file return the conversations of workload.go as bodies of
// generateContent.

// GenerateSmall returns a generateContent body of 0.3 KB with one text.
func GenerateSmall() string {
	return `{"contents":[{"role":"user","parts":[{"text":` +
		`"Write two sentences about a lighthouse that is kept by one person and a cat, in the voice of somebody ` +
		`who has just come up the stairs and is a little out of breath. Mention the weather, but not the sea."}]}],` +
		`"generationConfig":{"temperature":0.5,"maxOutputTokens":256}}`
}

// GenerateChat returns the generateContent body of [Chat].
func GenerateChat() string { return generateChat(rand.New(rand.NewPCG(1, 1)), english) }

// GenerateIntl returns the generateContent body of [Intl].
func GenerateIntl() string {
	return generateChat(rand.New(rand.NewPCG(2, 2)), japanese+" "+russian+" "+greek)
}

// GenerateImage returns the generateContent body of [Image].
func GenerateImage() string {
	return generateFile("image/png", png(768<<10), "What does the sign in the picture say?")
}

// GeneratePDF returns the generateContent body of [PDF].
func GeneratePDF() string {
	data := make([]byte, 25_000_000)
	n := copy(data, "%PDF-1.7\n%\xE2\xE3\xCF\xD3\n")
	noise(data[n:], 5)
	return generateFile("application/pdf", data, "Summarise the report.")
}

func generateFile(mediaType string, data []byte, prompt string) string {
	return `{"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":"` + mediaType + `","data":"` +
		base64.StdEncoding.EncodeToString(data) + `"}},{"text":"` + prompt + `"}]}],` +
		`"generationConfig":{"maxOutputTokens":1024}}`
}

// beginTurn begins an element of contents.
func beginTurn(w *jsonwire.Writer, role string) {
	w.BeginObject()
	text(w, "role", role)
	w.Name("parts")
	w.BeginArray()
}

func endTurn(w *jsonwire.Writer) {
	w.EndArray()
	w.EndObject()
}

func part(w *jsonwire.Writer, s string) {
	w.BeginObject()
	text(w, "text", s)
	w.EndObject()
}

func instruction(w *jsonwire.Writer, parts ...string) {
	w.Name("systemInstruction")
	w.BeginObject()
	w.Name("parts")
	w.BeginArray()
	for _, s := range parts {
		part(w, s)
	}
	w.EndArray()
	w.EndObject()
}

func generateChat(r *rand.Rand, words string) string {
	var w jsonwire.Writer
	w.BeginObject()
	instruction(&w, prose(r, words, 400))
	w.Name("contents")
	w.BeginArray()
	for i := range 21 {
		if i%2 == 0 {
			beginTurn(&w, "user")
			part(&w, prose(r, words, 600))
		} else {
			beginTurn(&w, "model")
			part(&w, prose(r, words, 2200))
		}
		endTurn(&w)
	}
	w.EndArray()
	w.Name("generationConfig")
	w.Raw(`{"maxOutputTokens":1024}`)
	w.EndObject()
	return w.Text()
}

// GenerateAgent returns the generateContent body of [Agent]. Signatures are on the
// first call of each step, not on thoughts.
func GenerateAgent() string {
	r := rand.New(rand.NewPCG(3, 3))
	var w jsonwire.Writer
	w.BeginObject()
	instruction(&w, prose(r, english, 70), prose(r, english, 60), prose(r, english, 26_000))
	w.Name("tools")
	w.BeginArray()
	w.BeginObject()
	w.Name("functionDeclarations")
	w.BeginArray()
	for i := range 40 {
		function(&w, r, i)
	}
	w.EndArray()
	w.EndObject()
	w.EndArray()
	w.Name("contents")
	w.BeginArray()
	calls := []string(nil) // functions called in the turn before
	for i := range 30 {
		responses(&w, r, i, calls)
		calls = modelTurn(&w, r, i)
	}
	w.EndArray()
	w.Name("generationConfig")
	w.Raw(`{"maxOutputTokens":32000,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":31999}}`)
	w.EndObject()
	return w.Text()
}

func function(w *jsonwire.Writer, r *rand.Rand, n int) {
	w.BeginObject()
	text(w, "name", "tool_"+strconv.Itoa(n))
	text(w, "description", prose(r, english, 900))
	w.Name("parametersJsonSchema")
	toolSchema(w, r)
	w.EndObject()
}

func responses(w *jsonwire.Writer, r *rand.Rand, n int, calls []string) {
	beginTurn(w, "user")
	if n == 0 {
		part(w, prose(r, english, 500))
	}
	for k, name := range calls {
		w.BeginObject()
		w.Name("functionResponse")
		w.BeginObject()
		text(w, "id", "toolu_"+strconv.Itoa(n-1)+"_"+strconv.Itoa(k))
		text(w, "name", name)
		w.Name("response")
		w.BeginObject()
		text(w, "output", code(r, 2100))
		w.EndObject()
		w.EndObject()
		w.EndObject()
	}
	endTurn(w)
}

func modelTurn(w *jsonwire.Writer, r *rand.Rand, n int) (calls []string) {
	beginTurn(w, "model")
	if n < 29 {
		w.BeginObject()
		text(w, "text", prose(r, english, 500))
		w.Name("thought")
		w.Bool(true)
		w.EndObject()
	}
	part(w, prose(r, english, 300))
	for k := range 2 {
		if n == 29 {
			break
		}
		calls = append(calls, "tool_"+strconv.Itoa(r.IntN(40)))
		w.BeginObject()
		w.Name("functionCall")
		w.BeginObject()
		text(w, "id", "toolu_"+strconv.Itoa(n)+"_"+strconv.Itoa(k))
		text(w, "name", calls[k])
		w.Name("args")
		callInput(w, r, n)
		w.EndObject()
		if k == 0 {
			sig := make([]byte, 300)
			noise(sig, uint64(n))
			text(w, "thoughtSignature", base64.StdEncoding.EncodeToString(sig))
		}
		w.EndObject()
	}
	endTurn(w)
	return calls
}
