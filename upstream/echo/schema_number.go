package echo

import (
	"math/big"

	"github.com/polywire/polywire/internal/jsonwire"
)

// bounds are what schemas ask of a number. Nil means that nothing is asked.
type bounds struct {
	low, high         *big.Rat
	lowOpen, highOpen bool     // the bound itself is not allowed
	step              *big.Rat // the number is a multiple of it
}

func (b *bounds) above(r *big.Rat, open bool) {
	if r == nil {
		return
	}
	if b.low == nil || r.Cmp(b.low) > 0 || r.Cmp(b.low) == 0 && open {
		b.low, b.lowOpen = r, open
	}
}

func (b *bounds) below(r *big.Rat, open bool) {
	if r == nil {
		return
	}
	if b.high == nil || r.Cmp(b.high) < 0 || r.Cmp(b.high) == 0 && open {
		b.high, b.highOpen = r, open
	}
}

// multiple makes the step one that r divides too.
func (b *bounds) multiple(r *big.Rat) {
	switch {
	case r == nil || r.Sign() <= 0:
	case b.step == nil:
		b.step = r
	default:
		// lcm(a/b, c/d) = lcm(a, c) / gcd(b, d), in lowest terms
		g := new(big.Int).GCD(nil, nil, b.step.Num(), r.Num())
		lcm := new(big.Int).Mul(b.step.Num(), new(big.Int).Quo(r.Num(), g))
		d := new(big.Int).GCD(nil, nil, b.step.Denom(), r.Denom())
		b.step = new(big.Rat).SetFrac(lcm, d)
	}
}

func (b *bounds) has(r *big.Rat) bool {
	if b.low != nil && (r.Cmp(b.low) < 0 || b.lowOpen && r.Cmp(b.low) == 0) {
		return false
	}
	if b.high != nil && (r.Cmp(b.high) > 0 || b.highOpen && r.Cmp(b.high) == 0) {
		return false
	}
	return b.step == nil || new(big.Rat).Quo(r, b.step).IsInt()
}

// bound collects what the schemas ask of a number.
func (m *maker) bound(list []node) *bounds {
	b := &bounds{}
	for _, n := range list {
		m.boundOne(b, n.v)
	}
	return b
}

func (m *maker) boundOne(b *bounds, v jsonwire.Value) {
	// In drafts before 6 the exclusive bounds are flags of the others.
	low, high := m.get(v, "exclusiveMinimum"), m.get(v, "exclusiveMaximum")
	lowOpen, _ := low.Bool()
	highOpen, _ := high.Bool()
	b.above(rat(m.get(v, "minimum")), lowOpen)
	b.below(rat(m.get(v, "maximum")), highOpen)
	b.above(rat(low), true)
	b.below(rat(high), true)
	b.multiple(rat(m.get(v, "multipleOf")))
}

func (m *maker) number(list []node, integer bool, nth int) {
	b := m.bound(list)
	if integer {
		b.multiple(big.NewRat(1, 1))
	}
	r := b.near(nth)
	digits, exact := r.FloatPrec()
	if !exact {
		digits = 20
	}
	m.out = append(m.out, r.FloatString(digits)...)
	m.work -= 1 + digits/16
}

// near returns a number within the bounds: 1 (or the step) if it may, and the
// nth one behind it.
func (b *bounds) near(nth int) *big.Rat {
	one, n := big.NewRat(1, 1), big.NewRat(int64(nth), 1)
	if b.step != nil {
		return b.nearStep(n)
	}
	if r := new(big.Rat).Add(one, n); b.has(r) {
		return r
	}
	switch {
	case b.low == nil && b.high == nil:
		return one
	case b.high == nil:
		r := new(big.Rat).Add(b.low, n)
		if b.lowOpen {
			r.Add(r, one)
		}
		return r
	case b.low == nil:
		r := new(big.Rat).Sub(b.high, n)
		if b.highOpen {
			r.Sub(r, one)
		}
		return r
	}
	// Between two bounds: the lower one, or a half, a quarter, … of the way.
	if !b.lowOpen && nth == 0 {
		return b.low
	}
	r := new(big.Rat).Sub(b.high, b.low)
	for range min(nth, maxItems) + 1 {
		r.Mul(r, big.NewRat(1, 2))
	}
	return r.Add(r, b.low)
}

// nearStep returns a multiple of the step.
func (b *bounds) nearStep(n *big.Rat) *big.Rat {
	k := big.NewRat(1, 1)
	if !b.has(b.step) {
		switch {
		case b.low != nil:
			k = new(big.Rat).SetInt(ceil(new(big.Rat).Quo(b.low, b.step)))
			if b.lowOpen && new(big.Rat).Mul(k, b.step).Cmp(b.low) == 0 {
				k.Add(k, big.NewRat(1, 1))
			}
		case b.high != nil:
			// -ceil(-x) is floor(x); go on downwards
			q := new(big.Rat).Quo(b.high, b.step)
			k = new(big.Rat).SetInt(ceil(q.Neg(q)))
			k.Neg(k)
			if b.highOpen && new(big.Rat).Mul(k, b.step).Cmp(b.high) == 0 {
				k.Sub(k, big.NewRat(1, 1))
			}
			n = new(big.Rat).Neg(n)
		}
	}
	r := new(big.Rat).Add(k, n)
	if r.Mul(r, b.step); !b.has(r) {
		r.Sub(k, n) // there may be more room on the other side
		r.Mul(r, b.step)
	}
	return r
}

func ceil(r *big.Rat) *big.Int {
	q, rest := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() != 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}
