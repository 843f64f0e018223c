package gemini

import (
	stdbytes "bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/polywire/polywire/internal/test/fake"
)

// sealMark begins the bytes of each signature of the fake. Digests of its
// response and of its part follow.
const sealMark = "gemini fake, thought: "

// dummies are the two values that skip validation, generatecontent.md §6.
var dummies = []string{"skip_thought_signature_validator", "context_engineering_is_the_way_to_go"}

// sign returns the signature of a part of a response: standard base64 with
// padding.
func sign(answer uint32, what string) string {
	b := binary.BigEndian.AppendUint32([]byte(sealMark), answer)
	b = append(b, fake.Sum([]byte(what), b)...)
	return base64.StdEncoding.EncodeToString(append(b, fake.Sum(b)...))
}

// verify reports whether this package made a signature, and whether it was made
// for this part.
func verify(signature, what string) (valid, fits bool) {
	b, err := decode(signature)
	head := len(sealMark) + 4
	if err != nil || len(b) != head+2*sha256.Size || !stdbytes.HasPrefix(b, []byte(sealMark)) {
		return false, false
	}
	rest := head + sha256.Size
	return hmac.Equal(b[rest:], fake.Sum(b[:rest])), hmac.Equal(b[head:rest], fake.Sum([]byte(what), b[:head]))
}

// identity returns what a signature depends on: the kind of the part, and for a
// call its name and arguments, regardless of the order of keys.
func identity(p *fake.Node) string {
	if f := get(p, "functionCall"); f != nil {
		return callIdentity(str(f, "name"), canonical(get(f, "args")))
	}
	if get(p, "inlineData") != nil {
		return "image"
	}
	return "text"
}

func callIdentity(name, args string) string { return "call " + name + " " + args }

// canonical returns a value with sorted keys.
func canonical(n *fake.Node) string {
	if n == nil {
		return "{}"
	}
	b, _ := json.Marshal(plain(n))
	return string(b)
}

func plain(n *fake.Node) any {
	switch n.Kind {
	case fake.Object:
		m := map[string]any{}
		for i, k := range n.Keys {
			m[k] = plain(n.Items[i])
		}
		return m
	case fake.Array:
		list := []any{}
		for _, v := range n.Items {
			list = append(list, plain(v))
		}
		return list
	case fake.Number:
		return json.Number(n.Str)
	case fake.Bool:
		return n.Str == "true"
	case fake.String:
		return n.Str
	default:
		return nil
	}
}

// canonicalText is canonical for a document that is valid JSON.
func canonicalText(args string) string {
	n, err := fake.Parse([]byte(args))
	if err != nil {
		return args
	}
	return canonical(n)
}

// isDummy reports whether a signature is one of the accepted placeholders. They
// are sent literally: Vertex rejects them in base64.
func isDummy(signature string) bool { return slices.Contains(dummies, signature) }

var signatureRules = []rule{
	{"signature-missing", "§6", false, missingSignature},
	{"signature", "§6", false, damagedSignature},
	{"signature-dummy", "Options.NoDummies", false, func(c *call) string {
		return c.parts(func(at string, p *fake.Node) string {
			if c.server.opts.NoDummies && isDummy(str(p, "thoughtSignature")) {
				return at + ": fake: a placeholder replaces the signature"
			}
			return ""
		})
	}},
	{"signature-kept", "Options.KeepSignatures", false, func(c *call) string {
		return c.parts(func(at string, p *fake.Node) string {
			signature := str(p, "thoughtSignature")
			if !c.server.opts.KeepSignatures || signature == "" || isDummy(signature) {
				return ""
			}
			valid, fits := verify(signature, identity(p))
			if !valid && c.server.opts.Lenient && get(p, "functionCall") != nil {
				return "" // the first call of a step is checked by damagedSignature
			}
			if !valid || !fits {
				return at + ": fake: the signature was not made for this part"
			}
			return ""
		})
	}},
}

// current returns the beginning of the current turn: the latest user content
// with more than results.
func (c *call) current() int {
	for i := len(c.contents) - 1; i >= 0; i-- {
		n := c.contents[i]
		if str(n, "role") != "model" && len(list(n, "parts")) > len(members(n, "functionResponse")) {
			return i
		}
	}
	return 0
}

// steps calls f for the first call of each step of the current turn.
func (c *call) steps(f func(i int, p *fake.Node) string) string {
	for i := c.current(); i < len(c.contents); i++ {
		for _, p := range list(c.contents[i], "parts") {
			if get(p, "functionCall") == nil {
				continue
			}
			if s := f(i, p); s != "" {
				return s
			}
			break
		}
	}
	return ""
}

func missingSignature(c *call) string {
	if !c.family.signsCalls() {
		return ""
	}
	return c.steps(func(i int, p *fake.Node) string {
		if str(p, "thoughtSignature") == "" {
			return fmt.Sprintf("Function call `%s` in the %d. content block is missing a `thought_signature`.", str(get(p, "functionCall"), "name"), i+1)
		}
		return ""
	})
}

func damagedSignature(c *call) string {
	if c.server.opts.TrustSignatures {
		return ""
	}
	return c.steps(func(_ int, p *fake.Node) string {
		signature := str(p, "thoughtSignature")
		if signature == "" || isDummy(signature) {
			return ""
		}
		if valid, fits := verify(signature, identity(p)); !valid || !fits {
			return "Corrupted thought signature."
		}
		return ""
	})
}
