//go:build linux

package release

import (
	"errors"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

// refusedState does not start with volumes of the old release.
var refusedState = defect{start: func(c service.Config) error {
	return withStore(c, func(store *backend.Backend) error {
		volumes, err := store.Volumes()
		if err == nil && len(volumes) > 0 {
			err = errors.New("record.json: unknown format")
		}
		return err
	})
}}

// rewrittenState writes the records of volumes in a form that the old release cannot read.
var rewrittenState = defect{
	configure: func(c *service.Config) { c.Format = backend.Nested },
	start: func(c service.Config) error {
		return withStore(c, (*backend.Backend).Rewrite)
	},
}

// forgottenAttachments has a new table of attachments, which is empty.
var forgottenAttachments = defect{start: func(c service.Config) error {
	if !c.Controller {
		return nil
	}
	return withStore(c, (*backend.Backend).ForgetAttachments)
}}

// unmounted unmounts the mounts of the old release.
var unmounted = defect{start: service.UnmountAll}

func withStore(c service.Config, do func(*backend.Backend) error) error {
	store, err := c.Open()
	if err != nil {
		return err
	}
	return do(store)
}
