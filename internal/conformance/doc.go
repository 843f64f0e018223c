// Package conformance drives the real handlers with the official SDKs of the
// formats' vendors, unmodified, over a server on loopback. It is a module of
// its own, so that the SDKs are nobody's requirement.
//
// A scenario is written once, as a request in JSON, and run by every SDK: each
// reads it into its own types, sends it in its own way, and hands back what it
// made of the answer. The TypeScript SDK runs in node (ts/driver.mjs), and its
// scenarios are skipped where there is no node.
package conformance
