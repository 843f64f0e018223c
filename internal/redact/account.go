package redact

import "strings"

// Ids of the host's accounts with vendors are removed like keys: clients of a service must not
// learn which accounts, projects and resources it uses. They are recognized by their form or by
// the name before them. Names without digits, such as "my-project", are known to adapters only.

// isAccountName reports whether values of this name are ids of an account.
func isAccountName(name string) bool {
	if len(name) < len("org") || len(name) > len("organization_number") {
		return false
	}
	name = strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
	for _, end := range [...]string{"id", "number"} {
		name = strings.TrimSuffix(name, end)
	}
	switch name {
	case "project", "account", "organization", "org", "subscription", "tenant", "workspace", "containerinfo":
		return true
	}
	return false
}

// minID is the number of digits in an id of an account.
const minID = 5

// isAccountID reports whether s is an id with several digits. Model names have fewer, or dates.
func isAccountID(s string) bool {
	digits := 0
	for i := range len(s) {
		switch {
		case s[i] >= '0' && s[i] <= '9':
			digits++
		case !isKeyByte(s[i]):
			return false
		}
	}
	return digits >= minID
}

// removeID removes the id of an account after its name. Punctuation stays.
func removeID(piece string) string {
	trimmed := strings.TrimRight(piece, ".:!?")
	if isAccountID(trimmed) {
		return mask + piece[len(trimmed):]
	}
	return piece
}

// accountPrefixes are the prefixes of ids of OpenAI's organizations and projects.
var accountPrefixes = [...]string{"org-", "proj_"}

// isPrefixedID reports whether s is the id of an organization or project: a prefix, and a run
// of letters and digits that is not a word.
func isPrefixedID(s string) bool {
	for _, p := range accountPrefixes {
		rest, ok := strings.CutPrefix(s, p)
		if !ok || len(rest) < 8 {
			continue
		}
		word := true
		for i := range len(rest) {
			c := rest[i]
			if !isKeyByte(c) {
				rest = rest[:i]
				break
			}
			if c == '-' || c == '_' {
				return false
			}
			word = word && c >= 'a' && c <= 'z'
		}
		return len(rest) >= 8 && !word
	}
	return false
}

// removeResource removes what names an account in the resource names of clouds: the account of
// an ARN, the project of Google Cloud, and everything in a subscription of Azure.
func removeResource(s string) string {
	if fields := strings.SplitN(s, ":", 6); len(fields) == 6 && fields[0] == "arn" {
		switch {
		case fields[2] == "iam" || fields[2] == "sts": // a user or role
			return strings.Join(fields[:4], ":") + ":" + mask
		case isAccountID(fields[4]):
			fields[4] = mask
			return strings.Join(fields, ":")
		}
		return s
	}
	if i := strings.Index(s, "/subscriptions/"); i >= 0 && len(s) > i+len("/subscriptions/") {
		return s[:i+len("/subscriptions/")] + mask
	}
	const projects = "projects/"
	if i := strings.Index(s, projects); i == 0 || i > 0 && s[i-1] == '/' {
		id, rest, more := strings.Cut(s[i+len(projects):], "/")
		switch {
		case more && strings.HasPrefix(rest, "locations/") && id != "" && id != "-":
			return s[:i+len(projects)] + mask + "/" + rest
		case removeID(id) != id:
			return s[:i+len(projects)] + removeID(id) + s[i+len(projects)+len(id):]
		}
	}
	return s
}
