package main

import (
	"unicode/utf8"
)

// A difference is what a document has and another one lacks.
type difference struct {
	removed []int32  // elements and members without a counterpart
	changed []change // scalars, and values of another type
}

// A change is a value with a counterpart that differs.
type change struct {
	node int32

	// from and to are the bytes of a string that differ, from the begin of the value. They
	// are 0 if the whole value differs.
	from, to int
}

// A comparison compares a document with a changed one. Both have no white space between
// values, so equal values have equal bytes.
type comparison struct {
	a, b *tree
	difference
}

// compare compares a with b. It ignores the member of the document with the name ignored.
func compare(a, b *tree, ignored string) difference {
	c := comparison{a: a, b: b}
	if a.kind(0) == '{' && b.kind(0) == '{' {
		c.objects(0, 0, ignored)
	} else {
		c.values(0, 0)
	}
	return c.difference
}

// values compares two values.
func (c *comparison) values(x, y int32) {
	p, q := c.a.value(x), c.b.value(y)
	switch {
	case p == q:
	case c.a.nodes[x].len == 0 && c.b.nodes[y].len > 0: // such as an empty list to which an element is added
		c.changed = append(c.changed, change{node: x})
	case p[0] == '{' && q[0] == '{':
		c.objects(x, y, "")
	case p[0] == '[' && q[0] == '[':
		c.arrays(x, y)
	case p[0] == '[' && q[0] == '"':
		c.toString(x, q)
	case p[0] == '"' && q[0] == '"':
		c.changed = append(c.changed, stringChange(x, p, q))
	default:
		c.changed = append(c.changed, change{node: x})
	}
}

// objects compares two objects without the member with the name ignored.
func (c *comparison) objects(x, y int32, ignored string) {
	others := c.b.children(y)
	for _, m := range c.a.children(x) {
		name := c.a.name(m)
		if ignored != "" && name == ignored {
			continue
		}
		found := int32(-1)
		for i, o := range others {
			if c.b.name(o) == name {
				found = o
				others = rotate(others, i+1)
				break
			}
		}
		if found < 0 {
			c.removed = append(c.removed, m)
		} else {
			c.values(m, found)
		}
	}
}

// rotate returns list without its first n elements if these are the next ones, as in objects
// of the same order; otherwise it returns list unchanged.
func rotate(list []int32, n int) []int32 {
	if n == 1 {
		return list[1:]
	}
	return list
}

// toString compares a list with the string that replaces it: the elements that do not
// contain the string are removed.
func (c *comparison) toString(x int32, q string) {
	kids := c.a.children(x)
	kept := false
	for _, k := range kids {
		if !kept && contains(c.a, k, q) {
			kept = true
			continue
		}
		c.removed = append(c.removed, k)
	}
	if !kept {
		c.removed = c.removed[:len(c.removed)-len(kids)]
		c.changed = append(c.changed, change{node: x})
	}
}

// contains reports whether a value of t is the string q or has a member with it.
func contains(t *tree, n int32, q string) bool {
	if t.value(n) == q {
		return true
	}
	for _, k := range t.children(n) {
		if t.value(k) == q {
			return true
		}
	}
	return false
}

// maxAligned is the maximum number of pairs of elements that are compared to align two lists.
const maxAligned = 4096

// arrays compares two lists: without the equal elements at both ends, elements are paired
// such that the fewest bytes differ.
func (c *comparison) arrays(x, y int32) {
	p, q := c.a.children(x), c.b.children(y)
	for len(p) > 0 && len(q) > 0 && c.a.value(p[0]) == c.b.value(q[0]) {
		p, q = p[1:], q[1:]
	}
	for len(p) > 0 && len(q) > 0 && c.a.value(p[len(p)-1]) == c.b.value(q[len(q)-1]) {
		p, q = p[:len(p)-1], q[:len(q)-1]
	}
	for i, k := range c.align(p, q) {
		if k < 0 {
			c.removed = append(c.removed, p[i])
		} else {
			c.values(p[i], q[k])
		}
	}
}

// align returns the index in q for each element of p, or -1 for an element without a
// counterpart.
func (c *comparison) align(p, q []int32) []int {
	pairs := make([]int, len(p))
	if len(p) == len(q) || len(p)*len(q) > maxAligned {
		for i := range pairs {
			pairs[i] = i
			if i >= len(q) {
				pairs[i] = -1
			}
		}
		return pairs
	}
	// cost[i][k] is the number of bytes that differ in p[i:] and q[k:].
	cost := make([][]int, len(p)+1)
	pair := make([][]int, len(p)) // the same if p[i] and q[k] are a pair
	for i := len(p); i >= 0; i-- {
		cost[i] = make([]int, len(q)+1)
		if i < len(p) {
			pair[i] = make([]int, len(q))
		}
		for k := len(q); k >= 0; k-- {
			switch {
			case i == len(p) && k == len(q):
			case i == len(p):
				cost[i][k] = cost[i][k+1] + len(c.b.value(q[k]))
			case k == len(q):
				cost[i][k] = cost[i+1][k] + len(c.a.value(p[i]))
			default:
				v, w := c.a.value(p[i]), c.b.value(q[k])
				before, after := common(v, w)
				pair[i][k] = cost[i+1][k+1] + len(v) + len(w) - 2*(before+after)
				cost[i][k] = min(pair[i][k], cost[i+1][k]+len(v), cost[i][k+1]+len(w))
			}
		}
	}
	k := 0
	for i := range pairs {
		pairs[i] = -1
		for k < len(q) && cost[i][k] != pair[i][k] && cost[i][k] != cost[i+1][k]+len(c.a.value(p[i])) {
			k++ // an element that only q has
		}
		if k < len(q) && cost[i][k] == pair[i][k] {
			pairs[i] = k
			k++
		}
	}
	return pairs
}

// common returns the numbers of bytes with which two texts begin and end, without overlap.
func common(p, q string) (before, after int) {
	n := min(len(p), len(q))
	for before < n && p[before] == q[before] {
		before++
	}
	for after < n-before && p[len(p)-1-after] == q[len(q)-1-after] {
		after++
	}
	return before, after
}

// stringChange returns the change of a string p to q. It is a part of the string if most of
// it is equal.
func stringChange(n int32, p, q string) change {
	before, after := common(p, q)
	if before+after == len(p) { // q has all of p
		return change{node: n}
	}
	from, to := 1, len(p)-1 // without quotes
	for i := 1; i < len(p)-1; {
		if i <= before {
			from = i
		}
		i += unitLen(p[i:])
		if i >= len(p)-after {
			to = min(to, i)
		}
	}
	if rest := to - from; rest > 0 && rest < len(p)/2 {
		return change{n, from, to}
	}
	return change{node: n}
}

// unitLen returns the length of the character or escape at the begin of a JSON string.
func unitLen(s string) int {
	switch {
	case s[0] == '\\' && len(s) > 1 && s[1] == 'u':
		return min(6, len(s))
	case s[0] == '\\':
		return min(2, len(s))
	}
	_, n := utf8.DecodeRuneInString(s)
	return n
}
