package redact

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLine(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty", "", ""},
		{"plain", "prompt is too long: 210000 tokens > 200000 maximum", "prompt is too long: 210000 tokens > 200000 maximum"},
		{"path", "messages.1.content.0.tool_result.tool_use_id: Field required", "messages.1.content.0.tool_result.tool_use_id: Field required"},
		{"key words in prose", "tools.0.custom.input_schema: the key is a token. Why? Basically, yes", "tools.0.custom.input_schema: the key is a token. Why? Basically, yes"},
		{"pattern", "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"},
		{"ids", "`tool_use` ids were found: toolu_01A09q90qw90lq917835lq9 in claude-sonnet-4-5-20250929",
			"`tool_use` ids were found: toolu_01A09q90qw90lq917835lq9 in claude-sonnet-4-5-20250929"},
		{"beta names", "clear_tool_uses_20250919, mid-conversation-system-clear-at-2026-08-21", "clear_tool_uses_20250919, mid-conversation-system-clear-at-2026-08-21"},
		{"lines", "a\r\nb\tc\u2028d\x00e  f\x7f", "a b c d e f"},
		{"not UTF-8", "a\xffb", "a\uFFFDb"},
		{"vendor key", "invalid x-api-key sk-ant-api03-AbC.", "invalid x-api-key [removed]."},
		{"key in quotes", `"sk-proj-12345678", 'AIzaSyA1234567890abcdefg'`, `"[removed]", '[removed]'`},
		{"bearer", "Authorization: Bearer abc.def was refused", "Authorization: [removed] [removed] was refused"},
		{"bearer alone", "got bearer abc", "got bearer [removed]"},
		{"named", "api_key=hunter2 x-api-key: hunter2 password:hunter2 client_secret = x", "api_key=[removed] x-api-key: [removed] password:[removed] client_secret = [removed]"},
		{"JSON", `{"api_key":"hunter2","model":"m"}`, `{"api_key":"[removed]","model":"m"}`},
		{"user-info", "could not fetch https://bob:pw@files.example/a.png", "could not fetch https://files.example/a.png"},
		{"query", "could not fetch (https://files.example/a.png?sig=abc&x=1): 403", "could not fetch (https://files.example/a.png): 403"},
		{"fragment", "see https://files.example/a#token", "see https://files.example/a"},
		{"query of a path", "GET /v1/files?key=abc failed", "GET /v1/files failed"},
		{"at in a path", "https://files.example/@bob/a", "https://files.example/@bob/a"},
		{"a URL in quotes", `'https://a:b@c.example?q'`, `'https://c.example'`},
		{"a question", "Which one? This.", "Which one? This."},
		{"hexadecimal", "digest 0123456789abcdef0123456789abcdef0123", "digest [removed]"},
		{"an id that carries state", "tool_use toolu_pwsig_OsPRqGZNcwECAWFh was found", "tool_use [removed] was found"},
		{"two keys", "8RRRRRR sk-000000q000\xf12000=sk-00000", "8RRRRRR [removed]"},
		{"key after a name, a colon or a slash", "a=sk-00000000=b error:sk-00000000 /v1/keys/sk-00000000", "a=[removed] error:[removed] /v1/keys/[removed]"},
		{"form", "client_id=x&client_secret=hunter2", "client_id=x&client_secret=[removed]"},
		{"opaque values", "0123456789abcdef0123456789abcdef0=0123456789abcdef0123456789abcdef0", "[removed][removed]"},
		{"name before a query", "password?a=b\"hunter2\" token ?a=b = hunter2", "password\"[removed]\" token = [removed]"},
		{"organization", "Rate limit reached for gpt-4o in organization org-H9rAbcDefGhiJklMnopQrstU on tokens per min (TPM): Limit 30000",
			"Rate limit reached for gpt-4o in organization [removed] on tokens per min (TPM): Limit 30000"},
		{"project", "Project `proj_AbCdEfGhIjKl` does not have access to model `gpt-5`", "Project `[removed]` does not have access to model `gpt-5`"},
		{"words like ids", "tools.0.name: org-chart-view, org-database, proj_files and proj_my_tool1 are not defined", "tools.0.name: org-chart-view, org-database, proj_files and proj_my_tool1 are not defined"},
		{"Google's project number", "API has not been used in project 123456789012 before or it is disabled. Consumer 'project_number:123456789012'.",
			"API has not been used in project [removed] before or it is disabled. Consumer 'project_number:[removed]'."},
		{"Google's project", "Publisher Model `projects/acme-prod/locations/us-central1/publishers/google/models/gemini-9` was not found",
			"Publisher Model `projects/[removed]/locations/us-central1/publishers/google/models/gemini-9` was not found"},
		{"Google's project in a URL", "Permission denied on resource '//aiplatform.googleapis.com/projects/acme-prod/locations/global'",
			"Permission denied on resource '//aiplatform.googleapis.com/projects/[removed]/locations/global'"},
		{"project of the client", "could not read gs://bucket/projects/apples/a.png", "could not read gs://bucket/projects/apples/a.png"},
		{"ARN of a user", "User: arn:aws:sts::123456789012:assumed-role/host/session is not authorized", "User: arn:aws:sts::[removed] is not authorized"},
		{"ARN of a model", "the model arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.claude is not ready", "the model arn:aws:bedrock:eu-central-1:[removed]:inference-profile/eu.claude is not ready"},
		{"ARN without an account", "arn:aws:bedrock:us-east-1::foundation-model/claude", "arn:aws:bedrock:us-east-1::foundation-model/claude"},
		{"account", "account: 123456789012 has no access; Account ID 123456789012.", "account: [removed] has no access; Account ID [removed]."},
		{"subscription of Azure", "no quota in /subscriptions/01234567-89ab-cdef-0123-456789abcdef/resourceGroups/rg/providers/x for gpt-5", "no quota in /subscriptions/[removed] for gpt-5"},
		{"model of a project", "project gpt-4.1-mini is not a project", "project gpt-4.1-mini is not a project"},
		{"tokens of a request", "Requested 123456 tokens for the organization, limit 30000", "Requested 123456 tokens for the organization, limit 30000"},
		{"opaque", "token AbCdEf0123456789AbCdEf0123456789AbCdEf", "token [removed]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Line(tt.in); got != tt.want {
				t.Errorf("Line(%q)\n got %q\nwant %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestLineLength(t *testing.T) {
	for _, in := range []string{
		strings.Repeat("word ", 1000), strings.Repeat("é", 3000), strings.Repeat("é ", 3000),
		strings.Repeat("x", 100_000), strings.Repeat("a b", 100_000), strings.Repeat(" ", 100_000) + "a",
		strings.Repeat("https://a.example?", 20_000), strings.Repeat("日本 ", 700),
	} {
		got := Line(in)
		if len(got) > maxLine || !utf8.ValidString(got) {
			t.Errorf("%.10q…: %d bytes, valid UTF-8: %v", in, len(got), utf8.ValidString(got))
		}
		if in[0] != ' ' && in[0] != 'x' && len(got) < 100 && !strings.HasPrefix(in, "https") {
			t.Errorf("%.10q…: only %q is left", in, got)
		}
	}
	// A key at the limit of the input.
	key := "sk-ant-" + strings.Repeat("Z9", 50)
	for pad := maxInput - 60; pad < maxInput; pad += 7 {
		if got := Line(strings.Repeat("\n", pad) + key); strings.Contains(got, "Z9") {
			t.Fatalf("pad %d: %q", pad, got)
		}
	}
	// A key at the limit of the output.
	for pad := maxLine - 80; pad < maxLine+20; pad++ {
		if got := Line(strings.Repeat("w", pad-900) + " " + strings.Repeat("v", 900) + " " + key); strings.Contains(got, "Z9") {
			t.Fatalf("pad %d: %q", pad, got)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("https://a:b@c?d=e#f", "x")
	f.Add(`{"token": "x"}`, `"`)
	f.Fuzz(func(t *testing.T, before, after string) {
		const key = "sk-ant-api03-Q7Q7Q7Q7Q7Q7Q7Q7"
		got := Line(before + " " + key + " " + after)
		if strings.Contains(got, "Q7Q7") && !strings.Contains(before+after, "Q7Q7") {
			t.Errorf("the key is still there: %q", got)
		}
		if len(got) > maxLine || !utf8.ValidString(got) || strings.ContainsAny(got, "\r\n\x00") {
			t.Errorf("not fit to be shown: %q", got)
		}
	})
}

func TestText(t *testing.T) {
	const id = "toolu_bdrk_01XbYwPq7LmN8RsT3UvW5ZaBc"
	for _, tt := range []struct{ in, want string }{
		{"", ""}, {"a\n  b\tc\r\n", "a\n  b\tc\r\n"}, {"a\x00b\x7f", "a b "}, {id, id}, {"the key sk-ant-api03-AbC\nis wrong", "the key [removed]\nis wrong"},
		{"see https://me:pw@h.example/a?sig=b\n", "see https://h.example/a\n"}, {"Authorization: Bearer abc\nx", "Authorization: [removed] [removed]\nx"},
	} {
		if got := Text(tt.in); got != tt.want {
			t.Errorf("%q became %q, want %q", tt.in, got, tt.want)
		}
	}
	long := Text(strings.Repeat("é ", 20_000))
	if len(long) > maxText || !utf8.ValidString(long) || !strings.HasSuffix(long, "…") {
		t.Errorf("%d bytes", len(long))
	}
}

// FuzzTwice checks that the line of a cleaned text equals the line of the text.
func FuzzTwice(f *testing.F) {
	f.Add("api_key=[removed] x-api-key: [removed] {\"password\":\"[removed]\"} bearer [removed]")
	f.Add("0000000\xc200\u009f\x9f")                       // a byte that is also the second one of the control character before it
	f.Add("8RRRRRR\x04\x00sk-000000q000\xf12000=sk-00000") // two keys in a word
	f.Add("//password#x\"foo //password#x = foo bearer?x=1 foo")
	f.Add("a\r\nb\tc\u2028d\x00e  f\x7f https://a:b@c?d=e#f sk-ant-0123456789")
	f.Fuzz(func(t *testing.T, text string) {
		if want, got := Line(text), Line(Text(text)); got != want && len(text) < 1000 {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	})
}
