package codec

import (
	"iter"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
)

// The rules by which [Losses] reports. The table of every codec includes them and
// [foreign.MemberRules].
var (
	ForeignSignature = &loss.Rule{Feature: loss.Signature, Severity: content.LossHint,
		Reason: "signatures are valid only at the vendor that made them; the signature was dropped"}
	ForeignPart = &loss.Rule{Feature: loss.VendorPart, Severity: content.LossDropped,
		Reason: "the part is specific to another vendor and was dropped"}
	ForeignTool = &loss.Rule{Feature: loss.VendorTool, Severity: content.LossDropped,
		Reason: "the tool is defined by another vendor and was dropped"}
)

// EmptyMessage is reported by formats that do not accept an empty user message, which
// generateContent accepts. [EmptyMessageText] is sent instead.
var EmptyMessage = &loss.Rule{Feature: loss.EmptyText, Severity: content.LossDegraded,
	Reason: "the last user message is empty; a sentence that states this is sent"}

// EmptyMessageText is sent for an empty user message: see [EmptyMessage].
const EmptyMessageText = "(The user's message is empty.)"

// Files that Messages cannot represent. Adapters refuse requests that have them: a
// response without them would be wrong.
var (
	MessagesAudioVideo = &loss.Rule{Feature: loss.AudioVideo, Severity: content.LossDropped,
		Reason: "Messages does not accept audio or video; the file cannot be sent"}
	MessagesImageType = &loss.Rule{Feature: loss.ImageType, Severity: content.LossDropped,
		Reason: "Messages accepts only JPEG, PNG, GIF and WebP images; the image cannot be sent"}
	MessagesDocumentType = &loss.Rule{Feature: loss.DocumentType, Severity: content.LossDropped,
		Reason: "Messages accepts only PDF and plain text documents; the document cannot be sent"}
)

// MessagesLinkType is reported for links only. It does not apply to files that are
// inlined.
var MessagesLinkType = &loss.Rule{Feature: loss.ImageType, Severity: content.LossHint,
	Reason: "Messages has no media type for linked files; it was omitted"}

// Losses collects the losses of a neutral request in a format.
type Losses struct {
	loss.Log
	Format content.Format
}

// Report adds the loss of r at path.
func (l *Losses) Report(r *loss.Rule, path string) { l.Add(r, path) }

// Drop adds the loss of a part and returns nil.
func (l *Losses) Drop(r *loss.Rule, path string) content.Part {
	l.Add(r, path)
	return nil
}

// Foreign adds the losses of members of another format, at path: see [foreign.Members].
func (l *Losses) Foreign(x *content.Extra, in foreign.Kind, path string) {
	if x == nil || Own(x, l.Format) != nil {
		return
	}
	for tail, rule := range foreign.Members(x, in) {
		l.Add(rule, Below(path, tail))
	}
}

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

// Own returns x if its members are of the format, otherwise nil.
func (l *Losses) Own(x *content.Extra) *content.Extra { return Own(x, l.Format) }

// Signature adds the loss of a signature of another format, of the part at path.
func (l *Losses) Signature(s content.Signature, path string) {
	if s.Data != "" && s.Format != l.Format {
		l.Add(ForeignSignature, path+".signature")
	}
}

// KeepPart returns p, a part that is specific to the vendor of f, if f is the format.
// Otherwise it adds a loss and returns nil.
func (l *Losses) KeepPart(p content.Part, f content.Format, path string) content.Part {
	if f != l.Format {
		return l.Drop(ForeignPart, path)
	}
	return p
}

// KeepTool reports whether a vendor-defined tool is of the format. If not, it adds a
// loss.
func (l *Losses) KeepTool(t *content.Tool, path string) bool {
	if t.Format != l.Format {
		l.Add(ForeignTool, path)
	}
	return t.Format == l.Format
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
