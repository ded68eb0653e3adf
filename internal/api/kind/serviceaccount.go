package kind

import "github.com/csisim/csisim/internal/world/store"

func init() {
	register(Kind{
		Version: "v1", Name: "ServiceAccount",
		ShortNames: []string{"sa"},
		rules:      rules{passes: []store.Pass{store.PassMetadata, store.PassObject}},
	})
}
