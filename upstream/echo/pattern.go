package echo

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// maxPattern bounds the patterns that are looked at.
const maxPattern = 1024

// matches reports whether a text has a match of a pattern, or whether that
// cannot be said: Go's patterns have no looking ahead or back.
func matches(pattern, text string) bool {
	if len(pattern) > maxPattern {
		return true
	}
	re, err := regexp.Compile(pattern)
	return err != nil || re.MatchString(text)
}

// fromPattern makes a text that a pattern matches and that has a length within
// bounds, if it can.
func fromPattern(pattern string, least, most int) (string, bool) {
	if len(pattern) > maxPattern {
		return "", false
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return "", false
	}
	// Repetitions go round 0, 1, 2 … times more than they must.
	for more := 0; more <= least+1; more = more + 1 + more/8 {
		g := patternText{more: more}
		g.write(tree)
		text := g.b.String()
		for _, t := range []string{text, sized(text, least, most)} {
			if n := utf8.RuneCountInString(t); n >= least && n <= most && re.MatchString(t) {
				return t, true
			}
		}
	}
	return "", false
}

// patternText writes a text for a pattern.
type patternText struct {
	b    strings.Builder
	more int
}

func (g *patternText) write(re *syntax.Regexp) {
	if g.b.Len() > maxText {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			g.b.WriteRune(r)
		}
	case syntax.OpCharClass:
		g.b.WriteRune(runeOf(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		g.b.WriteByte('a')
	case syntax.OpCapture, syntax.OpConcat:
		for _, s := range re.Sub {
			g.write(s)
		}
	case syntax.OpAlternate:
		g.write(re.Sub[0])
	case syntax.OpStar:
		g.repeat(re.Sub[0], g.more)
	case syntax.OpPlus:
		g.repeat(re.Sub[0], 1+g.more)
	case syntax.OpQuest:
		g.repeat(re.Sub[0], min(g.more, 1))
	case syntax.OpRepeat:
		n := re.Min + g.more
		if re.Max >= 0 {
			n = min(n, re.Max)
		}
		g.repeat(re.Sub[0], n)
	}
}

func (g *patternText) repeat(re *syntax.Regexp, n int) {
	for range n {
		if g.b.Len() > maxText {
			return
		}
		g.write(re)
	}
}

// runeOf takes a character of a class, a plain one if it can. The class is a
// list of first and last characters.
func runeOf(class []rune) rune {
	for _, r := range "a1A_- " {
		for i := 0; i+1 < len(class); i += 2 {
			if class[i] <= r && r <= class[i+1] {
				return r
			}
		}
	}
	if len(class) == 0 {
		return 'a'
	}
	return class[0]
}
