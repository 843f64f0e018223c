package messages

import "testing"

// Validate alone, and parsing and validating together, which is what the
// goals are told for.
func BenchmarkValidate(b *testing.B) {
	for _, w := range workloads {
		body := w.make()
		r, err := ParseRequestString(body)
		if err != nil {
			b.Fatal(err)
		}
		if err := r.Validate(nil); err != nil {
			b.Fatalf("%s: %v", w.name, err)
		}
		b.Run(w.name+"/validate", func(b *testing.B) { against(b, body, func() { r.Validate(nil) }) })
		b.Run(w.name+"/both", func(b *testing.B) {
			against(b, body, func() {
				r, _ := ParseRequestString(body)
				r.Validate(nil)
			})
		})
	}
}
