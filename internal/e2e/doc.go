// Package e2e holds tests only: every front over every adapter, against the
// strict fakes of the vendors. What a client sends must reach the vendor or be
// reported as lost, and what the vendor says must reach the client.
//
// Answers are read here by small readers of their own, written from what the
// clients of each format demand, so that a codec is never its own judge.
package e2e
