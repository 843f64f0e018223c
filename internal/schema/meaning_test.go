package schema

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// TestMeaning checks that a translated schema accepts the values that its losses
// allow. If all losses only widen, it accepts every value that the source accepts. If
// all losses only narrow, the source accepts every value that it accepts.
func TestMeaning(t *testing.T) {
	effects := map[*loss.Rule]effect{}
	for i, r := range reasons {
		effects[&argumentRules[i]], effects[&responseRules[i]] = r.effect, r.effect
	}
	for d := JSONSchema; int(d) < dialectCount; d++ {
		for _, input := range []bool{true, false} {
			t.Run(fmt.Sprint(d, input), func(t *testing.T) { checkMeaning(t, effects, d, input, false) })
			t.Run(fmt.Sprint(d, input, "OpenAPI"), func(t *testing.T) { checkMeaning(t, effects, d, input, true) })
		}
	}
}

func checkMeaning(t *testing.T, effects map[*loss.Rule]effect, d Dialect, input, openAPI bool) {
	widened, narrowed := 0, 0 // numbers of comparisons
	for seed := range uint64(300) {
		g := generator{rand.New(rand.NewPCG(seed, uint64(d))), d >= MessagesStrict && seed%2 == 0}
		source := marshal(g.root(input))
		f := Output
		if input {
			f = Input
		}
		if openAPI {
			source = marshal(openAPIOf(unmarshal(source)))
		}
		target, losses := f(d, content.Schema{JSON: source, OpenAPI: openAPI})
		if target == "" {
			continue
		}
		onlyWidens, onlyNarrows := true, true
		for _, l := range losses {
			onlyWidens = onlyWidens && effects[l.Rule] <= widens
			onlyNarrows = onlyNarrows && (effects[l.Rule] == sameValues || effects[l.Rule] == narrows)
		}
		from := &evaluator{root: unmarshal(source)}
		to := &evaluator{root: unmarshal(target)}
		if d == GeminiJSON {
			to.ignored, to.oneOfAsAnyOf = geminiSkips, true
		}
		for range 20 {
			v := g.fitting(from, from.root, 4)
			if _, ok := v.(object); input && !ok {
				continue
			}
			from.depth, to.depth = 0, 0
			a, b := from.valid(from.root, v), to.valid(to.root, v)
			switch {
			case a && onlyWidens:
				widened++
				if !b {
					t.Fatalf("dialect %d input %t seed %d: %s\nsatisfies %s\nbut not   %s\nlosses %v", d, input, seed, marshal(v), source, target, losses)
				}
			case b && onlyNarrows:
				narrowed++
				if !a {
					t.Fatalf("dialect %d input %t seed %d: %s\ndoes not satisfy %s\nbut %s\nlosses %v", d, input, seed, marshal(v), source, target, losses)
				}
			}
			if !a && onlyNarrows {
				narrowed++
			}
		}
	}
	t.Logf("dialect %d input %t: %d, %d", d, input, widened, narrowed)
	// Strict dialects always narrow OpenAPI schemas.
	if openAPI && widened+narrowed < 200 || !openAPI && (widened < 80 || narrowed < 10 && d != GeminiJSON) {
		t.Errorf("dialect %d: too few comparisons: %d and %d", d, widened, narrowed)
	}
}
