// Package script contains a model that plays a script, for tests of agents and other clients
// without a key or network. The n-th request receives the n-th [Reply], streamed or whole. The
// model keeps the requests, and the test checks afterwards what arrived:
//
//	model := script.New(
//		script.Reply{script.Say("Let me look."), script.Call("weather", `{"city":"Oslo"}`)},
//		script.Reply{script.Say("It rains in Oslo.")},
//	)
//	server := httptest.NewServer(polywire.NewHandler(model, nil))
//	defer server.Close()
//	// … run the agent with server.URL as the address of its SDK
//	if err := model.Verify(); err != nil {
//		t.Error(err)
//	}
//
// [Model] is an [upstream.Upstream], so the same script serves the SDKs of all vendors. The handler
// above serves all of them.
//
// A [Step] is a function that writes a part of a response, so a test adds its own where those of
// this package do not suffice.
//
// The model does not check the request: it also calls tools that the request lacks, and writes
// more than the maximum number of tokens. All token counts are estimates. Package
// [github.com/polywire/polywire/upstream/record] plays responses of a real model. docs/testing.md
// has complete tests with the SDK of each vendor.
package script
