// Package openresponses tests the handler of Responses with the option OpenResponses against the
// Open Responses specification. It is a separate module, so that other modules do not require
// the validator of JSON Schema.
//
// Every request, response and event of these tests is validated against the OpenAPI document of
// the specification. The cases of the specification's own acceptance tests are rows of
// [TestSuite], over the fakes of all vendors. They do not check the order of events, ids, sequence
// numbers, the sums of deltas and error objects: the other tests do.
package openresponses
