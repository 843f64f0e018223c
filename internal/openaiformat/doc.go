// Package openaiformat contains what Chat Completions and Responses share: the members that
// both write in the same form, values of both in responses, and errors.
package openaiformat
