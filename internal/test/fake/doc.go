// Package fake contains the common parts of the strict fakes of the vendors:
// the script of responses, disruptions of responses, the record of requests,
// and a small language for the shapes of requests.
//
// A fake is an independent opinion of the requests that a vendor accepts and
// the responses that it sends. It is written from the wire references only and
// shares no code with the codecs that it tests, so it reads with encoding/json.
// Only tests import it.
//
//	f := anthropic.New(t, anthropic.Options{Key: "k"})
//	f.Say(fake.Thinking("Where?"), fake.Call("weather", `{"city":"Rome"}`))
//	f.Say(fake.Text("Sunny"), fake.Cut{})
//	// … send requests to f.URL …
//	f.Requests()
package fake
