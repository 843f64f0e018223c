package codec

import (
	"iter"
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
)

// The losses that all codecs report with what is here. Every codec's table has
// them, and [ForeignRules].
var (
	ForeignSignature = &loss.Rule{Feature: loss.Signature, Severity: content.LossHint,
		Reason: "the signature is another vendor's and is left out"}
	ForeignPart = &loss.Rule{Feature: loss.VendorPart, Severity: content.LossDropped,
		Reason: "only another vendor understands this part: it is left out"}
	ForeignTool = &loss.Rule{Feature: loss.VendorTool, Severity: content.LossDropped,
		Reason: "the tool is another vendor's own and is left out"}
)

// EmptyMessage is reported by formats that accept no empty question, where
// content generation does. [EmptyMessageText] is sent instead.
var EmptyMessage = &loss.Rule{Feature: loss.EmptyText, Severity: content.LossDegraded,
	Reason: "the last message of the user is empty: a sentence that says so is sent"}

// EmptyMessageText is sent for an empty question: see [EmptyMessage].
const EmptyMessageText = "(The user's message is empty.)"

// What Messages takes no form of. An adapter refuses requests with these:
// without them the answer would be wrong.
var (
	MessagesAudioVideo = &loss.Rule{Feature: loss.AudioVideo, Severity: content.LossDropped,
		Reason: "Messages takes no sound and no moving pictures"}
	MessagesImageType = &loss.Rule{Feature: loss.ImageType, Severity: content.LossDropped,
		Reason: "Messages takes images as JPEG, PNG, GIF and WebP only"}
	MessagesDocumentType = &loss.Rule{Feature: loss.DocumentType, Severity: content.LossDropped,
		Reason: "Messages takes documents as PDF and plain text only"}
)

// MessagesLinkType is of no account for a file that is put into the document.
var MessagesLinkType = &loss.Rule{Feature: loss.ImageType, Severity: content.LossHint,
	Reason: "Messages does not say the media type of a file that is elsewhere"}

// Losses collects what a format cannot say of a request in neutral words.
type Losses struct {
	loss.Log
	Format content.Format
}

// Report notes that a rule has met what stands at path.
func (l *Losses) Report(r *loss.Rule, path string) { l.Add(r, path) }

// Drop notes that a part is lost, and returns none.
func (l *Losses) Drop(r *loss.Rule, path string) content.Part {
	l.Add(r, path)
	return nil
}

// Within notes losses that tell their paths from path on, such as those of
// internal/schema, whose reasons are in a table of its own.
func (l *Losses) Within(path string, list []content.Loss) {
	l.Losses = slices.Grow(l.Losses, len(list))
	for _, x := range list {
		if x.Path != "" {
			x.Path = path + "." + x.Path
		} else {
			x.Path = path
		}
		l.Losses = append(l.Losses, x)
	}
}

// Foreign notes members of another format, which are at path: see [LostMembers].
func (l *Losses) Foreign(x *content.Extra, path string) {
	if x == nil || Own(x, l.Format) != nil {
		return
	}
	for at, rule := range LostMembers(x, path) {
		l.Add(rule, at)
	}
}

// mostTold bounds how many members are told by name.
const mostTold = 64

// ReportedMembers yields the names of the members of x, in their order. An empty name
// stands for members whose names are not told: no plain words, or too many, or
// unreadable.
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
			if n++; n > mostTold || !plainWord(name) {
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

// Below returns the path of a member.
func Below(path, name string) string {
	if name == "" {
		return path
	}
	return path + "." + name
}

// plainWord reports whether a name is like those of formats.
func plainWord(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && (s[i] < '0' || s[i] > '9') && s[i] != '_' && s[i] != '-' {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

// Own returns x if its members are of the format, else nil.
func (l *Losses) Own(x *content.Extra) *content.Extra { return Own(x, l.Format) }

// Signature notes a signature of another format, of the part at path.
func (l *Losses) Signature(s content.Signature, path string) {
	if s.Data != "" && s.Format != l.Format {
		l.Add(ForeignSignature, path+".signature")
	}
}

// Vendors returns a part that only the vendor of f understands, or none if that
// is another format.
func (l *Losses) Vendors(p content.Part, f content.Format, path string) content.Part {
	if f != l.Format {
		return l.Drop(ForeignPart, path)
	}
	return p
}

// Tool notes a built-in tool of another format, and reports whether it is one
// of this.
func (l *Losses) Tool(t *content.Tool, path string) bool {
	if t.Format != l.Format {
		l.Add(ForeignTool, path)
	}
	return t.Format == l.Format
}

// Own returns x if its members are of the format f, or of whichever format
// they are written in, else nil.
func Own(x *content.Extra, f content.Format) *content.Extra {
	if x != nil && (x.Format == f || x.Format == "") {
		return x
	}
	return nil
}

// Open returns the members of x as a document, which has to be closed; nil if
// they are of another format than f, or no JSON.
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

// Rewrite returns what change makes of the elements of a list, in a new list
// if it makes anything of them. It reports whether it has.
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
