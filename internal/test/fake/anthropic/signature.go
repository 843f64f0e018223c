package anthropic

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/polywire/polywire/internal/test/fake"
)

// A seal identifies the block and response of a signature. The signature
// contains the seal, a digest of the visible text, and a digest of both.
type seal struct {
	answer     uint32
	pos, total uint16
}

const (
	sealMark = "anthropic fake, thinking: "
	sealSize = len(sealMark) + 8
	sumSize  = sha256.Size
)

// sign returns the signature of a block with the given visible text.
func (s seal) sign(kind, text string) string {
	b := []byte(sealMark)
	b = binary.BigEndian.AppendUint32(b, s.answer)
	b = binary.BigEndian.AppendUint16(b, s.pos)
	b = binary.BigEndian.AppendUint16(b, s.total)
	b = append(b, fake.Sum([]byte(kind), []byte(text), b[:sealSize])...)
	return base64.StdEncoding.EncodeToString(append(b, fake.Sum(b)...))
}

// open decodes a signature. valid reports whether this package made it, fits
// whether it was made for the text.
func open(signature, kind, text string) (s seal, valid, fits bool) {
	b, err := base64.StdEncoding.Strict().DecodeString(signature)
	if err != nil || len(b) != sealSize+2*sumSize || !strings.HasPrefix(string(b), sealMark) {
		return seal{}, false, false
	}
	if !hmac.Equal(b[sealSize+sumSize:], fake.Sum(b[:sealSize+sumSize])) {
		return seal{}, false, false
	}
	n := b[len(sealMark):]
	s = seal{binary.BigEndian.Uint32(n), binary.BigEndian.Uint16(n[4:]), binary.BigEndian.Uint16(n[6:])}
	return s, true, hmac.Equal(b[sealSize:sealSize+sumSize], fake.Sum([]byte(kind), []byte(text), b[:sealSize]))
}

// thoughts records the signatures before each tool call of this fake.
type thoughts struct {
	mu     sync.Mutex
	before map[string][]string
}

func (t *thoughts) note(call string, signatures []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.before == nil {
		t.before = map[string][]string{}
	}
	t.before[call] = slices.Clone(signatures)
}

func (t *thoughts) of(call string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.before[call]
}

var signatureRules = []rule{
	{"signature", "§2.5 [report]", 0, signatureRule},
	{"thinking-modified", "§2.5 [docs]", 0, modifiedRule},
	{"thinking-first", "§2.5 [report]", 0, func(a *ask) string {
		step, open := a.loop()
		if a.thinking() != "enabled" || !open || len(step.blocks) == 0 {
			return ""
		}
		if k := step.blocks[0].kind(); k != "thinking" && k != "redacted_thinking" {
			return step.blocks[0].at + ".type: Expected `thinking` or `redacted_thinking`, but found `" + k + "`. When `thinking` is enabled, a final `assistant` message must start with a thinking block."
		}
		return ""
	}},
	{"thinking-kept", "Options.KeepThinking", 0, keptRule},
}

// sealed returns the seal of a block, its signature, and the results of open.
func sealed(b block) (s seal, signature string, valid, fits bool) {
	if b.kind() == "thinking" {
		signature = b.Text("signature")
		s, valid, fits = open(signature, "thinking", b.Text("thinking"))
		return s, signature, valid, fits
	}
	signature = b.Text("data")
	s, valid, fits = open(signature, "redacted", "")
	return s, signature, valid, fits
}

func isThinking(b block) bool { return b.kind() == "thinking" || b.kind() == "redacted_thinking" }

// signatureRule checks that this fake made every signature, and before the
// latest turn also that it fits the text.
func signatureRule(a *ask) string {
	if a.server.opts.TrustSignatures {
		return ""
	}
	last := a.lastAssistant()
	return a.blocks(func(t turn, b block) string {
		if t.role != "assistant" || !isThinking(b) {
			return ""
		}
		_, _, valid, fits := sealed(b)
		if valid && (fits || t.first == last.first) {
			return ""
		}
		if b.kind() == "thinking" {
			return b.at + ": Invalid `signature` in `thinking` block"
		}
		return b.at + ": Invalid `data` in `redacted_thinking` block"
	})
}

// modifiedRule checks that each run of thinking in the latest assistant turn is
// unchanged.
func modifiedRule(a *ask) string {
	if a.server.opts.TrustSignatures {
		return ""
	}
	var run []block
	for _, b := range append(slices.Clone(a.lastAssistant().blocks), block{Node: &fake.Node{Kind: fake.Object}}) {
		if isThinking(b) {
			run = append(run, b)
			continue
		}
		for i, r := range run {
			s, _, _, fits := sealed(r)
			before := i > 0
			if first, _, _, _ := sealed(run[0]); !fits || int(s.pos) != i || int(s.total) != len(run) || before && first.answer != s.answer {
				return r.at + ": `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response."
			}
		}
		run = nil
	}
	return ""
}

func (a *ask) lastAssistant() turn {
	for _, t := range slices.Backward(a.turns) {
		if t.role == "assistant" {
			return t
		}
	}
	return turn{first: -1}
}

// loop returns the first assistant turn of the tool loop that the request continues.
func (a *ask) loop() (step turn, open bool) {
	turns := a.contentTurns()
	for i := len(turns) - 1; i > 0; i -= 2 {
		user, assistant := turns[i], turns[i-1]
		if user.role != "user" || assistant.role != "assistant" || len(ids(user, "tool_result", "tool_use_id")) == 0 {
			break
		}
		step, open = assistant, true
		if slices.ContainsFunc(user.blocks, func(b block) bool { return b.kind() != "tool_result" }) {
			break
		}
	}
	return step, open
}

// keptRule checks that all thinking before a tool call of the open loop is
// present.
func keptRule(a *ask) string {
	if !a.server.opts.KeepThinking {
		return ""
	}
	turns := a.contentTurns()
	start, open := a.loop()
	for _, t := range turns {
		if !open || t.role != "assistant" || t.first < start.first {
			continue
		}
		var seen []string
		for _, b := range t.blocks {
			if isThinking(b) {
				_, signature, _, _ := sealed(b)
				seen = append(seen, signature)
			}
			for _, want := range a.server.thought.of(b.Text("id")) {
				if b.kind() == "tool_use" && !slices.Contains(seen, want) {
					return fmt.Sprintf("%s: fake: the thinking that was sent before this call is missing", b.at)
				}
			}
		}
	}
	return ""
}
