package jsonwire

import (
	"hash/maphash"
	"math/bits"
)

// Names are compared as they come while an object has few of them. From then
// on, and once a name has escapes, its names are compared when it closes.
const fewNames = 16

// name scans a member's name from i on and the colon behind it.
func (s *scanner) name(i int) int {
	src := s.src
	if i = skipSpace(src, i); i >= len(src) || src[i] != '"' {
		return s.truncated(i, "expected a member name in quotes")
	}
	n := uint32(len(s.nodes))
	if i = s.str(i); i < 0 {
		return i
	}
	if !s.top.many && !s.limits.Repeated {
		nd := s.nodes[n]
		text := src[nd.start+1 : nd.end-1]
		switch bit := nameBit(text); {
		case nd.num() > 0 || s.top.count >= fewNames:
			s.top.many = true
		case s.top.bloom&bit != 0 && s.taken(n, text):
			return s.duplicate(n)
		default:
			s.top.bloom |= bit
		}
	}
	if i = skipSpace(src, i); i >= len(src) || src[i] != ':' {
		return s.truncated(i, "expected a colon after a member name")
	}
	return i + 1
}

// nameBit returns one bit for a name, most often another for another name.
func nameBit(name string) uint64 {
	if name == "" {
		return 1
	}
	h := uint(len(name)) + uint(name[0])*3 + uint(name[len(name)-1])*7 + uint(name[len(name)/2])*11
	return 1 << (h & 63)
}

// taken reports whether a member before node n of the open object has the name
// text. None of its names has escapes.
func (s *scanner) taken(n uint32, text string) bool {
	for k := s.top.node + 1; k < n; k = s.nodes[k+1].next {
		if nd := &s.nodes[k]; s.src[nd.start+1:nd.end-1] == text {
			return true
		}
	}
	return false
}

// duplicate notes the fault of the name at node n.
func (s *scanner) duplicate(n uint32) int {
	nd := &s.nodes[n]
	name := quoteName(decode(s.src[nd.start+1 : nd.end-1]))
	return s.fail(int(nd.start), DuplicateName, "duplicate member name "+name)
}

// distinctNames compares the names of the innermost object, all of whose
// members have been scanned, with a hash table. The hash has a seed, so nobody
// can choose names that collide, and each name is read once.
func (s *scanner) distinctNames() bool {
	if !s.seeded {
		s.seed, s.seeded = maphash.MakeSeed(), true
	}
	size := 1 << bits.Len(uint(s.top.count)*2)
	if cap(s.table) < size {
		s.table = make([]uint64, size)
	}
	table := s.table[:size]
	clear(table)
	// A slot holds the upper half of the hash and the node, which is never 0.
	for k := s.top.node + 1; int(k) < len(s.nodes); k = s.nodes[k+1].next {
		h := s.hashName(k)
		for slot := int(h) & (size - 1); ; slot = (slot + 1) & (size - 1) {
			e := table[slot]
			if e == 0 {
				table[slot] = h&^(1<<32-1) | uint64(k)
				break
			}
			if e>>32 == h>>32 && s.sameName(uint32(e), k) {
				s.duplicate(k)
				return false
			}
		}
	}
	return true
}

// hashName returns the hash of the name at node k, unescaped.
func (s *scanner) hashName(k uint32) uint64 {
	nd := &s.nodes[k]
	text := s.src[nd.start+1 : nd.end-1]
	if nd.num() == 0 {
		return maphash.String(s.seed, text)
	}
	var h maphash.Hash
	h.SetSeed(s.seed)
	buf := s.buffer()
	for len(text) > 0 {
		n, used := unescape(buf, text)
		h.Write(buf[:n])
		text = text[used:]
	}
	return h.Sum64()
}

// sameName compares two names of equal hash, which are the same but for a
// chance that nobody can raise.
func (s *scanner) sameName(a, b uint32) bool {
	x, y := &s.nodes[a], &s.nodes[b]
	return decode(s.src[x.start+1:x.end-1]) == decode(s.src[y.start+1:y.end-1])
}
