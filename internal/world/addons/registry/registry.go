// Package registry registers the messages of CSI-Addons separately from the registry of the
// process. A driver's tests may link the project's own package with the same messages, but a
// process may register a name only once.
package registry

import (
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

var (
	// Files are the .proto files; it also finds their imports.
	Files = files{new(protoregistry.Files)}
	// Types are the messages and enums.
	Types = new(protoregistry.Types)
)

type files struct{ own *protoregistry.Files }

// FindFileByPath finds a file here or in the registry of the process.
func (f files) FindFileByPath(path string) (protoreflect.FileDescriptor, error) {
	if found, err := f.own.FindFileByPath(path); err == nil {
		return found, nil
	}
	return protoregistry.GlobalFiles.FindFileByPath(path)
}

// FindDescriptorByName finds a message or enum here or in the registry of the process.
func (f files) FindDescriptorByName(name protoreflect.FullName) (protoreflect.Descriptor, error) {
	if found, err := f.own.FindDescriptorByName(name); err == nil {
		return found, nil
	}
	return protoregistry.GlobalFiles.FindDescriptorByName(name)
}

// RegisterFile enters a file.
func (f files) RegisterFile(file protoreflect.FileDescriptor) error { return f.own.RegisterFile(file) }
