package lower

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/schema"
)

// settings is what the passes over the settings of a request remember.
type settings struct {
	suffix        *content.Text  // appended to the system text
	defaultDetail *content.Extra // members of files that have none
	schemas       schema.ExpansionLimit
	index         *toolIndex
	memberTools   []content.Tool // that a member of the request stands for, at memberAt
	memberAt      Path
	strictUse     StrictLimit // of the functions so far
	replaced      bool        // there are replacements that follow all other tools
	free          []string    // names of the built-in tools that the client's choice of tools does not limit
	thinks        bool        // the model may think
	silent        bool        // the request does not have the settings of thinking that are lowered
	atEnd         lastMark    // the cache mark that the request asks for
	pending       []Loss      // of foreign members that are sent if the model accepts settings of sampling
}
