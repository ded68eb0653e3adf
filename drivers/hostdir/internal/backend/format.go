//go:build linux

package backend

import (
	"fmt"
	"slices"
	"strings"
)

// Format is the format of volume records, which differs between releases.
type Format string

// The formats. Each release reads the formats before its own.
const (
	// V1 stores the attachments of a volume by node.
	V1 Format = "v1"
	// V2 also has them as a list. V1 can read its records, because it ignores the list.
	V2 Format = "v2"
	// Nested stores the volume in a separate field, which no other format reads.
	Nested Format = "nested"
)

// ParseFormat reads the name of a format.
func ParseFormat(name string) (Format, error) {
	if f := Format(name); f == V1 || f == V2 {
		return f, nil
	}
	return "", fmt.Errorf("expected %s or %s", V1, V2)
}

// volumeRecord is the record of a volume in any format.
type volumeRecord struct {
	Volume
	Format     Format         `json:"format,omitempty"` // V2 or Nested
	AttachedTo []attachedNode `json:"attachedTo,omitempty"`
	Inner      *Volume        `json:"volume,omitempty"`
}

// attachedNode is an attachment of V2.
type attachedNode struct {
	Node string `json:"node"`
	Attachment
}

// record returns the record of a volume in the format of the backend.
func (b *Backend) record(v Volume) volumeRecord {
	switch b.Format {
	case V2:
		r := volumeRecord{Volume: v, Format: V2}
		for node, a := range v.Attachments {
			r.AttachedTo = append(r.AttachedTo, attachedNode{node, a})
		}
		slices.SortFunc(r.AttachedTo, func(a, b attachedNode) int { return strings.Compare(a.Node, b.Node) })
		return r
	case Nested:
		return volumeRecord{Format: Nested, Inner: &v}
	}
	return volumeRecord{Volume: v}
}

// read returns the volume of a record, as a release with the backend's format reads it.
func (b *Backend) read(r volumeRecord) Volume {
	switch {
	case b.Format == Nested && r.Inner != nil:
		return *r.Inner
	case b.Format == V2 && r.Format == V2:
		r.Attachments = map[string]Attachment{}
		for _, a := range r.AttachedTo {
			r.Attachments[a.Node] = a.Attachment
		}
	}
	return r.Volume
}

// Rewrite writes the records of all volumes in the format of the backend.
func (b *Backend) Rewrite() error {
	return b.exclusively(func() error {
		all, err := b.Volumes()
		for _, v := range all {
			if err == nil {
				err = b.saveVolume(v)
			}
		}
		return err
	})
}
