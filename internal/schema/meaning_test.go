package schema

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/polywire/polywire/content"
)

// TestMeaning translates many schemas and looks whether the values that satisfy
// them are those that the losses let expect: if everything that was lost only
// widens, no value is refused that was allowed, and the other way round.
func TestMeaning(t *testing.T) {
	effects := map[string]effect{}
	for _, r := range reasons {
		effects[r.text] = r.effect
	}
	for d := JSONSchema; int(d) < dialects; d++ {
		for _, input := range []bool{true, false} {
			t.Run(fmt.Sprint(d, input), func(t *testing.T) { meaning(t, effects, d, input, false) })
			if d != GeminiSchema {
				t.Run(fmt.Sprint(d, input, "OpenAPI"), func(t *testing.T) { meaning(t, effects, d, input, true) })
			}
		}
	}
}

func meaning(t *testing.T, effects map[string]effect, d Dialect, input, openAPI bool) {
	wide, narrow := 0, 0 // how often something was really compared
	for seed := range uint64(300) {
		g := generator{rand.New(rand.NewPCG(seed, uint64(d))), d >= MessagesStrict && seed%2 == 0}
		source := text_(g.root(input))
		f := Output
		if input {
			f = Input
		}
		if openAPI {
			source, _ = Output(GeminiSchema, content.Schema{JSON: source})
		}
		target, losses := f(d, content.Schema{JSON: source, OpenAPI: openAPI})
		if target == "" {
			continue
		}
		widens_, narrows_ := true, true
		for _, l := range losses {
			widens_ = widens_ && effects[l.Reason] <= widens
			narrows_ = narrows_ && (effects[l.Reason] == same || effects[l.Reason] == narrows)
		}
		from := &evaluator{root: value_(source)}
		to := &evaluator{root: value_(target)}
		if d == GeminiJSON {
			to.skip, to.loose = geminiSkips, true
		}
		for range 20 {
			v := g.fitting(from, from.root, 4)
			if _, ok := v.(object); input && !ok {
				continue
			}
			from.depth, to.depth = 0, 0
			a, b := from.valid(from.root, v), to.valid(to.root, v)
			switch {
			case a && widens_:
				wide++
				if !b {
					t.Fatalf("dialect %d input %t seed %d: %s\nsatisfies %s\nbut not   %s\nlosses %v", d, input, seed, text_(v), source, target, losses)
				}
			case b && narrows_:
				narrow++
				if !a {
					t.Fatalf("dialect %d input %t seed %d: %s\ndoes not satisfy %s\nbut %s\nlosses %v", d, input, seed, text_(v), source, target, losses)
				}
			}
			if !a && narrows_ {
				narrow++
			}
		}
	}
	t.Logf("dialect %d input %t: %d, %d", d, input, wide, narrow)
	// Strict dialects always narrow what came from the closed set.
	if openAPI && wide+narrow < 200 || !openAPI && (wide < 80 || narrow < 10 && d != GeminiJSON) {
		t.Errorf("dialect %d: too few comparisons: %d and %d", d, wide, narrow)
	}
}
