package generatecontent

import "testing"

// TestOriginal checks where parts stood in the document, when others beside
// them were left out.
func TestOriginal(t *testing.T) {
	r, err := ParseRequestString(`{"contents":[{"parts":[{},{"text":"1"},{},{},{"text":"4"},{}]},{"parts":[{"text":"0"}]}],` +
		`"systemInstruction":{"parts":[{"text":"0"},{},{"text":"2"}]},` +
		`"generationConfig":{}}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ turn, part, want int }{
		{0, 0, 1}, {0, 1, 4}, {1, 0, 0}, {-1, 0, 0}, {-1, 1, 2}, {7, 3, 3},
	} {
		if got := r.original(tt.turn, tt.part); got != tt.want {
			t.Errorf("part %d of turn %d stood at %d, want %d", tt.part, tt.turn, got, tt.want)
		}
	}
	for neutral, want := range map[string]string{
		"turns.0.parts.1": "contents[0].parts[4]", "system.1": "system_instruction.parts[2]", "turns.1.parts.0": "contents[1].parts[0]",
	} {
		if got := r.path(neutral); got != want {
			t.Errorf("%s is told as %s, want %s", neutral, got, want)
		}
	}
	if got := (&Request{}).original(0, 2); got != 2 {
		t.Errorf("in a request made by hand: %d", got)
	}
}
