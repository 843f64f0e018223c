package codec

import (
	"slices"
	"strconv"
	"strings"
)

// overflows lists the error texts of vendors for a prompt that exceeds the context
// window of a model, in lower case.
var overflows = []string{
	"prompt is too long", "prompt too long", "input is too long", "length of all messages is too long",
	"context length", "maximum context", "context window", "context size", "context limit", "n_ctx",
	"maximum number of tokens allowed", "exceeds the maximum number of tokens", "maximum prompt length", "maximum input length",
	"too many prompt tokens", "too many tokens", "input tokens exceed", "prompt token count", "input token count",
	"exceeded model token limit", "reduce the length of the messages", "reduce the length of your prompt",
}

// IsPromptTooLong reports whether the message of an error is about a prompt that
// exceeds the context window of the model.
func IsPromptTooLong(message string) bool {
	message = strings.ToLower(message)
	// bounded by overflows
	return slices.ContainsFunc(overflows, func(words string) bool { return strings.Contains(message, words) })
}

// PromptTooLong is the beginning of error messages of Messages about such a prompt.
// Clients compact the conversation when they read it.
const PromptTooLong = "prompt is too long"

// Overflow returns the tokens of the prompt and the limit in an error message about a
// prompt that is too long. ok is false unless the message has exactly two such numbers.
func Overflow(message string) (tokens, limit int64, ok bool) {
	var found []int64
	for i := 0; i < len(message); {
		if message[i] < '0' || message[i] > '9' {
			i++
			continue
		}
		end := i
		for end < len(message) && (message[end] >= '0' && message[end] <= '9' || message[end] == ',' && isDigit(message, end+1)) {
			end++
		}
		// Names of models and versions have digits, too.
		alone := (i == 0 || !inName(message[i-1])) && (end == len(message) || !inName(message[end]) || message[end] == '.' && !isDigit(message, end+1))
		n, err := strconv.ParseInt(strings.ReplaceAll(message[i:end], ",", ""), 10, 64)
		if alone && err == nil && n >= minContext && !slices.Contains(found, n) { // bounded by maxNumbers
			if found = append(found, n); len(found) > maxNumbers {
				return 0, 0, false
			}
		}
		i = end
	}
	if len(found) != maxNumbers {
		return 0, 0, false
	}
	return max(found[0], found[1]), min(found[0], found[1]), true
}

const (
	minContext = 512 // the smallest number that is read as a number of tokens
	maxNumbers = 2   // numbers of tokens in a message
)

func isDigit(s string, i int) bool { return i < len(s) && s[i] >= '0' && s[i] <= '9' }

func inName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' || c == '/'
}
