package content_test

import (
	"fmt"

	"github.com/polywire/polywire/content"
)

func ExampleLoss() {
	for _, l := range []content.Loss{
		{Path: "turns.1.parts.0", Severity: content.LossHint, Reason: "the thinking of another vendor was omitted",
			Also: []string{"turns.3.parts.0", "turns.5.parts.0"}},
		{Path: "top_k", Severity: content.LossDropped, Reason: "the server does not have top_k"},
	} {
		fmt.Println(l)
		for path := range l.Places() {
			fmt.Println("  at", path)
		}
	}
	// Output:
	// hint turns.1.parts.0, and in 2 more places: the thinking of another vendor was omitted
	//   at turns.1.parts.0
	//   at turns.3.parts.0
	//   at turns.5.parts.0
	// dropped top_k: the server does not have top_k
	//   at top_k
}
