package codec

import (
	"iter"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
)

// EmptyMessageText is sent for an empty user message by formats that do not accept one.
const EmptyMessageText = "(The user's message is empty.)"

// ReportedMembers yields the names of the members of x, in order. It yields "" for all
// members that are not reported by name: their names are not plain, there are too
// many, or x is not valid JSON.
func ReportedMembers(x *content.Extra) iter.Seq[string] {
	return func(yield func(string) bool) {
		doc := Open(x, x.Format)
		if doc == nil {
			yield("")
			return
		}
		defer doc.Close()
		n, unnamed := 0, false
		for name := range doc.Root().Members() {
			if n++; n > loss.MaxNames || !loss.IsPlainName(name) {
				unnamed = true
			} else if !yield(name) {
				return
			}
		}
		if unnamed {
			yield("")
		}
	}
}

// Below returns the path of a member. An empty name means path itself.
func Below(path, name string) string {
	if name == "" {
		return path
	}
	return path + "." + name
}

// Own returns x if its members are of the format f or of no particular format,
// otherwise nil.
func Own(x *content.Extra, f content.Format) *content.Extra {
	if x != nil && (x.Format == f || x.Format == "") {
		return x
	}
	return nil
}

// Open parses the members of x. The caller must close the document. Open returns nil
// if they are of another format than f or not valid JSON.
func Open(x *content.Extra, f content.Format) *jsonwire.Doc {
	if x = Own(x, f); x == nil {
		return nil
	}
	doc, err := jsonwire.Parse(x.JSON, UnlimitedJSON)
	if err != nil {
		return nil
	}
	return doc
}

// Rewrite applies change to the elements of a list. It returns a new list and true if
// an element was changed or dropped, otherwise the list and false.
func Rewrite[T any](list []T, change func(i int, x T) (y T, changed, keep bool)) (to []T, other bool) {
	for i, x := range list {
		y, changed, keep := change(i, x)
		if (changed || !keep) && !other {
			other = true
			to = append(make([]T, 0, len(list)), list[:i]...)
		}
		if other && keep {
			to = append(to, y)
		}
	}
	if !other {
		return list, false
	}
	return to, true
}
