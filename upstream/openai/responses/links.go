package responses

import (
	"cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/upstream"
)

// referencedFiles lists the files to which r refers by URL or id, in the order of the document. The
// content that is loaded for one must be valid at the same place. opts may be nil. It is called before [Request.withDocument].
func (r *Request) referencedFiles(opts *ValidateOptions) []handler.File {
	opts = cmp.Or(opts, &defaultOptions)
	rules := opts.fileRules()
	var n upstream.Request
	if places := r.conversation(&n); r.origin != nil {
		r.origin.places = places
	}
	return handler.Files(n.System, n.Turns, func(ref *handler.Reference) handler.File {
		kind := openaiformat.DocumentFile
		switch ref.In[len(ref.In)-1].(type) {
		case *content.Image:
			kind = openaiformat.ImageFile
		case *content.Media:
			kind = openaiformat.AudioFile
		}
		return handler.File{Source: ref.Source, Path: r.Path(ref.Path), Check: func(b content.Blob) error {
			return rules.CheckLoaded(kind, b)
		}}
	})
}

// fileRules returns the rules for files.
func (o *ValidateOptions) fileRules() openaiformat.FileRules {
	return openaiformat.NewFileRules(documentTypes, o.MediaTypes, true, &o.Limits)
}
