// Package e2e contains only tests. They run each handler over each adapter
// against the strict fakes of the vendors. All content of a client must reach
// the vendor or be reported as a loss, and all content of a response must reach
// the client.
//
// The tests read responses with small readers of their own, written from the
// requirements of each format's clients. No codec validates its own output.
package e2e
