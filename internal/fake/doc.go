// Package fake is what the strict fakes of the vendors share: the script of what to
// answer, the faults that can be woven into an answer, the record of what was asked, and
// a small language for the shapes of requests.
//
// A fake is an independent opinion of what a vendor accepts and sends. It is written from
// the wire references alone and shares no code with the codecs that it judges, which is
// why it reads with encoding/json. Only tests import it.
//
//	f := anthropic.New(t, anthropic.Options{Key: "k"})
//	f.Say(fake.Thinking("Where?"), fake.Call("weather", `{"city":"Rome"}`))
//	f.Say(fake.Text("Sunny"), fake.Cut{})
//	// … talk to f.URL …
//	f.Requests()
package fake
