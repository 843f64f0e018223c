package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// escaped returns s with every byte in the given format.
func escaped(format, s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, format, s[i])
	}
	return b.String()
}

// quotations are forms in which a server may quote a value.
func quotations(v string) map[string]string {
	std, raw := base64.StdEncoding, base64.RawURLEncoding
	inJSON, _ := json.Marshal(map[string]string{"key": v})
	twice, _ := json.Marshal(string(inJSON))
	return map[string]string{
		"plain": v, "capitals": strings.ToUpper(v), "small letters": strings.ToLower(v),
		"query": url.QueryEscape(v), "path": url.PathEscape(v), "percent": escaped("%%%02X", v), "percent, small": escaped("%%%02x", v),
		"percent twice": strings.ReplaceAll(escaped("%%%02X", v), "%", "%25"),
		"JSON":          string(inJSON), "JSON in JSON": string(twice), "unicode escapes": escaped(`\u%04x`, v), "unicode escapes in JSON": escaped(`\\u%04X`, v),
		"slashes": strings.ReplaceAll(v, "/", `\/`), "Go": fmt.Sprintf("%q", v), "hex escapes": escaped(`\x%02x`, v), "HTML": escaped("&#%d;", v), "HTML, hex": escaped("&#x%x;", v),
		"base64": std.EncodeToString([]byte(v)), "base64 for URLs": raw.EncodeToString([]byte(v)),
		"base64 of a header": std.EncodeToString([]byte("Bearer " + v)), "base64 of one more": raw.EncodeToString([]byte("x" + v + "y")),
		"base64 of a pair": std.EncodeToString([]byte("me:" + v)), "base64 in JSON": strings.ReplaceAll(std.EncodeToString([]byte("{"+v+"}")), "/", `\/`),
		"hex": hex.EncodeToString([]byte(v)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(v))),
	}
}

func TestSecretsClean(t *testing.T) {
	for _, v := range []string{"host+key/for=tests", `q"u\o%t&e'd`, "sixsix", "???>>>~~~", "nnnnnnnn"} {
		for name, q := range quotations(v) {
			for _, around := range [][2]string{{"", ""}, {"the key ", " is wrong"}, {`{"message":"`, `"}`}, {`https://h.example/`, `?a=b`}, {"\\\\", "\\n"}} {
				text := around[0] + q + around[1]
				got := NewSecrets([]string{"other-secret", v}).Clean(text)
				if strings.Contains(got, q) || !strings.Contains(got, mask) {
					t.Errorf("%q as %s: %q became %q", v, name, text, got)
				}
				if text[0] == '{' && json.Valid([]byte(text)) && !json.Valid([]byte(got)) {
					t.Errorf("%q as %s: %q is not JSON any more: %q", v, name, text, got)
				}
			}
		}
	}
}

func TestSecretsLeave(t *testing.T) {
	const key = "host-key-without-a-shape"
	s := NewSecrets([]string{key, "", "short", key})
	for _, tt := range []struct{ in, want string }{
		{"", ""}, {"nothing of it", "nothing of it"}, {"short", "short"}, {"sk-ab****xyz", "sk-ab****xyz"},
		{"the host-key is wrong", "the host-key is wrong"},
		{`{"a":"\\` + key + `\u00e9\n"}`, `{"a":"\\[removed]\u00e9\n"}`},
		{"a " + key + " and " + key + "!", "a [removed] and [removed]!"},
		{"cut: host-key-without-…", "cut: [removed]…"}, {"it is cut here: host-key-without", "it is cut here: [removed]"},
		{"x-api-key: host-key", "x-api-key: host-key"},
	} {
		if got := s.Clean(tt.in); got != tt.want {
			t.Errorf("%q became %q, want %q", tt.in, got, tt.want)
		}
	}
	if got := (*Secrets)(nil).Clean(key); got != key || NewSecrets([]string{"short"}) != nil {
		t.Errorf("no secrets: %q", got)
	}
}

func TestValues(t *testing.T) {
	for _, tt := range []struct{ name, value, want string }{
		{"X-Api-Key", "abc", "abc|abc"}, {"Authorization", "Bearer tok", "Bearer tok|tok"}, {"authorization", "Basic bWU6cHc=", "Basic bWU6cHc=|bWU6cHc=||me:pw|pw"},
		{"Cookie", "a=1234567; b=2", "a=1234567; b=2|a=1234567|1234567|b=2|2"}, {"X-Amz-Security-Token", "t", "t|t"}, {"Ocp-Apim-Subscription-Key", "k", "k|k"},
		{"cf-aig-authorization", "Bearer c", "Bearer c|c"}, {"api-version", "2024-10-21", ""}, {"User-Agent", "polywire", ""},
		{"Anthropic-Beta", "x", ""}, {"OpenAI-Project", "p", ""},
		{"Authorization", "AWS4-HMAC-SHA256 Credential=A/b, SignedHeaders=content-type;host, Signature=0a1b",
			"AWS4-HMAC-SHA256 Credential=A/b, SignedHeaders=content-type;host, Signature=0a1b|0a1b|A"},
	} {
		if got := strings.Join(SecretsOf(tt.name, tt.value), "|"); got != tt.want {
			t.Errorf("%s: %s: got %q, want %q", tt.name, tt.value, got, tt.want)
		}
	}
}

func FuzzSecrets(f *testing.F) {
	f.Add("a\\", `\n`, byte(0))
	f.Add("\\/", `\n`, byte(3))                      // the run of base64 begins with an escaped backslash
	f.Add("\n", "", byte(4))                         // n ends an escape sequence and begins a key
	f.Add("\u2028", "ey-with-n", byte(6))            // as the last digit of one
	f.Add("", "", byte(8))                           // the key ends with a backslash
	f.Add("\n", "ext-key and \"aG9zdCtr\"", byte(9)) // a part of a key behind its first byte
	keys := []string{"host+key/for=tests", "next-key/1", `8key\with\`}
	f.Fuzz(func(t *testing.T, before, after string, how byte) {
		key := keys[int(how)/4%len(keys)]
		forms := []string{key, url.QueryEscape(key), escaped(`\u%04x`, key), base64.StdEncoding.EncodeToString([]byte(key))}
		q := forms[int(how)%len(forms)]
		got := NewSecrets([]string{key}).Clean(before + " " + q + " " + after)
		if strings.Contains(got, q) && !strings.Contains(before+after, q[:4]) {
			t.Errorf("%q is left in %q", q, got)
		}
		for _, text := range []string{before + q + after, before + q[1:] + after} {
			doc, _ := json.Marshal([]string{text})
			if clean := NewSecrets([]string{key}).Clean(string(doc)); !json.Valid([]byte(clean)) {
				t.Errorf("%s became %s, which is not JSON", doc, clean)
			}
		}
	})
}
