package tokencount

import (
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/test/floor"
)

// samples and their counts by the published tokenizer of the Messages vendor and by
// o200k.
var samples = []struct {
	name, text    string
	vendor, o200k float64
}{
	{"prose", "The ferry leaves the small harbour at seven every morning, whether or not anybody is on board. On clear days you can see the lighthouse from the upper deck, and behind it the long grey line of the mainland. Most passengers are teachers and nurses who work on the other side; in summer there are cyclists too, who ask whether the café serves breakfast. It does, although the coffee has a reputation that reaches as far as the capital. When the fog comes in, the captain sounds the horn twice and everybody stops talking for a moment.", 110, 108},
	{"code", "// Sum adds the sizes of all files below root that match.\nfunc Sum(root string, match func(fs.DirEntry) bool) (total int64, err error) {\n\terr = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {\n\t\tif err != nil {\n\t\t\treturn fmt.Errorf(\"walking %q: %w\", path, err)\n\t\t}\n\t\tif d.IsDir() || !match(d) {\n\t\t\treturn nil\n\t\t}\n\t\tinfo, err := d.Info()\n\t\tif err != nil {\n\t\t\treturn err\n\t\t}\n\t\ttotal += info.Size()\n\t\treturn nil\n\t})\n\treturn total, err\n}\n", 165, 140},
	{"json", "{\"name\":\"find_departures\",\"description\":\"Lists ferries that leave a harbour.\",\"input_schema\":{\"type\":\"object\",\"properties\":{\"harbour\":{\"type\":\"string\",\"minLength\":2},\"after\":{\"type\":\"string\",\"format\":\"date-time\"},\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":50,\"default\":10},\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"car\",\"bicycle\",\"foot\"]}}},\"required\":[\"harbour\"],\"additionalProperties\":false}}", 105, 102},
	{"chinese", "渡轮每天早上七点离开小港口，不管船上有没有人。天气晴朗的时候，从上层甲板可以看到灯塔，灯塔后面是大陆的一条灰色长线。大多数乘客是在对岸工作的教师和护士；夏天还有骑自行车的人，他们会问咖啡馆有没有早餐。有是有，不过那里的咖啡名声很大，连首都的人都知道。", 150, 95},
	{"japanese", "フェリーは毎朝七時に小さな港を出ます。乗客がいてもいなくても同じです。晴れた日には上のデッキから灯台が見え、その向こうに本土の長い灰色の線が続いています。乗客の多くは対岸で働く先生や看護師ですが、夏には自転車の旅行者も来て、カフェで朝食が食べられるかどうかを尋ねます。", 154, 110},
	{"russian", "Паром уходит из маленькой гавани каждое утро в семь часов, есть ли кто-нибудь на борту или нет. В ясные дни с верхней палубы виден маяк, а за ним длинная серая полоса материка. Большинство пассажиров — учителя и медсёстры, которые работают на другом берегу; летом бывают и велосипедисты.", 152, 81},
	{"numbers", "2026-11-03 07:00:12.345 harbour=12 ferry=4471 load=83.5% wind=14.2m/s tide=+0.42 id=9f3c2a71 next=07:45:00 price=12.80 total=10432.00\n2026-11-03 07:00:12.345 harbour=12 ferry=4471 load=83.5% wind=14.2m/s tide=+0.42 id=9f3c2a71 next=07:45:00 price=12.80 total=10432.00\n2026-11-03 07:00:12.345 harbour=12 ferry=4471 load=83.5% wind=14.2m/s tide=+0.42 id=9f3c2a71 next=07:45:00 price=12.80 total=10432.00\n2026-11-03 07:00:12.345 harbour=12 ferry=4471 load=83.5% wind=14.2m/s tide=+0.42 id=9f3c2a71 next=07:45:00 price=12.80 total=10432.00\n", 272, 272},
}

// TestTextAgainstTokenizers checks that estimates are within the documented error,
// with a margin for short samples.
func TestTextAgainstTokenizers(t *testing.T) {
	for _, s := range samples {
		got := float64(Text(s.text))
		lo, hi := 0.85*min(s.vendor, s.o200k), 1.15*max(s.vendor, s.o200k)
		if got < lo || got > hi {
			t.Errorf("%s: estimated %.0f tokens; tokenizers count %.0f and %.0f", s.name, got, s.vendor, s.o200k)
		}
	}
}

func TestTextOfParts(t *testing.T) {
	for _, s := range samples {
		whole, half := Text(s.text), len(s.text)/2
		if parts := Text(s.text[:half]) + Text(s.text[half:]); parts < whole || parts > whole+5 {
			t.Errorf("%s: %d tokens in one piece, %d in two", s.name, whole, parts)
		}
	}
	if n := Text(""); n != 0 {
		t.Errorf("an empty text has %d tokens", n)
	}
	if n := Text("a"); n != 1 {
		t.Errorf("one letter has %d tokens", n)
	}
}

func TestTextAllocates(t *testing.T) {
	s := strings.Repeat(samples[0].text, 10)
	if n := testing.AllocsPerRun(10, func() { Text(s) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkText(b *testing.B) {
	for _, s := range samples {
		text := strings.Repeat(s.text, 30)
		doc := `"` + strings.NewReplacer(`"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(text) + `"`
		b.Run(s.name, func(b *testing.B) { floor.Run(b, doc, func() { Text(text) }) })
	}
}

// The sizes and counts follow from the vendor's formula: squares of 28 pixels,
// a side of 2576 pixels and 4784 tokens at the most.
func TestImage(t *testing.T) {
	for _, tt := range []struct {
		width, height int
		want          int64
	}{
		{1, 1, 1},
		{28, 28, 1},
		{29, 28, 2},
		{200, 200, 64},
		{1000, 1000, 1296},
		{1092, 1092, 1521},
		{8000, 8000, 4784},
		{8000, 100, 92 * 2},
		{0, 100, 0},
	} {
		if got := Image(tt.width, tt.height); got != tt.want {
			t.Errorf("Image(%d, %d) = %d, want %d", tt.width, tt.height, got, tt.want)
		}
	}
}
