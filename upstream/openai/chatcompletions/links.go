package chatcompletions

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/openaiformat"
)

// referencedFiles lists the files to which r refers by URL or id, in the order of the document. The
// content that is loaded for one must be valid in a data URL at the same place.
func referencedFiles(r *Request, opts *ValidateOptions) []handler.File {
	rules := opts.fileRules()
	return handler.Files(r.System, r.Messages, func(ref *handler.Reference) handler.File {
		kind := openaiformat.DocumentFile
		if _, image := ref.In[len(ref.In)-1].(*content.Image); image {
			kind = openaiformat.ImageFile
		}
		return handler.File{Source: ref.Source, Path: r.Path(ref.Path), Check: func(b content.Blob) error {
			return rules.CheckLoaded(kind, b)
		}}
	})
}
