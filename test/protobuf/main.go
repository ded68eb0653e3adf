// Command protobuf generates Go code from the .proto files of CSI-Addons, in their directory:
//
//	cd test/protobuf && go run .
//
// The code does not register its messages in the registry of the process. If it did, a program that
// also contains the project's own package for the same messages could not start.
package main

import (
	"bytes"
	"context"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/cmd/protoc-gen-go/internal_gengo"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"

	_ "github.com/container-storage-interface/spec/lib/go/csi"
)

// target is the package beside which the code is generated.
const target = "github.com/csisim" + "/csisim/internal/world/addons"

const csiProto = "csi.proto"

var packages = []string{"identity", "reclaimspace", "fence", "replication", "volumegroup", "encryptionkeyrotation", "sidecar"}

func main() {
	if err := generate(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func generate() error {
	request, err := compile()
	if err != nil {
		return err
	}
	messages, err := messagesOf(request)
	if err != nil {
		return err
	}
	services, err := servicesOf(request)
	if err != nil {
		return err
	}
	const folder = "../../internal/world/addons"
	for _, file := range append(messages, services...) {
		text, err := format.Source([]byte(unregistered(file.GetContent())))
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Join(folder, filepath.Dir(file.GetName())), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, file.GetName()), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compile reads the files. CSI's file is the source of the package of CSI.
func compile() (*pluginpb.CodeGeneratorRequest, error) {
	var names []string
	for _, name := range packages {
		names = append(names, name+"/"+name+".proto")
	}
	compiler := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(protocompile.CompositeResolver{
			&protocompile.SourceResolver{ImportPaths: []string{"../../internal/world/addons/proto"}},
			protocompile.ResolverFunc(csiFile),
		}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(context.Background(), names...)
	if err != nil {
		return nil, err
	}
	request := &pluginpb.CodeGeneratorRequest{
		FileToGenerate: names, Parameter: proto.String("module=" + target),
	}
	seen := map[string]bool{}
	var add func(protoreflect.FileDescriptor)
	add = func(f protoreflect.FileDescriptor) {
		if seen[f.Path()] {
			return
		}
		seen[f.Path()] = true
		for i := range f.Imports().Len() {
			add(f.Imports().Get(i).FileDescriptor)
		}
		request.ProtoFile = append(request.ProtoFile, protodesc.ToFileDescriptorProto(f))
	}
	for _, f := range files {
		add(f)
	}
	return request, nil
}

func messagesOf(request *pluginpb.CodeGeneratorRequest) ([]*pluginpb.CodeGeneratorResponse_File, error) {
	plugin, err := protogen.Options{}.New(request)
	if err != nil {
		return nil, err
	}
	for _, f := range plugin.Files {
		if f.Generate {
			internal_gengo.GenerateFile(plugin, f)
		}
	}
	return plugin.Response().GetFile(), nil
}

// servicesOf generates clients and servers with protoc-gen-go-grpc.
func servicesOf(request *pluginpb.CodeGeneratorRequest) ([]*pluginpb.CodeGeneratorResponse_File, error) {
	in, err := proto.Marshal(request)
	if err != nil {
		return nil, err
	}
	command := exec.Command("go", "tool", "protoc-gen-go-grpc")
	command.Stdin, command.Stderr = bytes.NewReader(in), os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("protoc-gen-go-grpc: %w", err)
	}
	response := &pluginpb.CodeGeneratorResponse{}
	if err := proto.Unmarshal(out, response); err != nil {
		return nil, err
	}
	if response.Error != nil {
		return nil, fmt.Errorf("protoc-gen-go-grpc: %s", response.GetError())
	}
	return response.GetFile(), nil
}

// unregistered changes generated code so that it registers its types in the package registry.
func unregistered(code string) string {
	const build = "\tout := protoimpl.TypeBuilder{\n\t\tFile: protoimpl.DescBuilder{\n"
	if !strings.Contains(code, build) {
		return code
	}
	code = strings.Replace(code, build, build+"\t\t\tFileRegistry: registry.Files,\n", 1)
	code = strings.Replace(code, "\tout := protoimpl.TypeBuilder{\n", "\tout := protoimpl.TypeBuilder{\n\t\tTypeRegistry: registry.Types,\n", 1)
	return strings.Replace(code, "import (\n", "import (\n\tregistry \""+target+"/registry\"\n", 1)
}

func csiFile(path string) (protocompile.SearchResult, error) {
	if path != csiProto {
		return protocompile.SearchResult{}, os.ErrNotExist
	}
	return protocompile.SearchResult{Proto: csiDescriptor()}, nil
}

func csiDescriptor() *descriptorpb.FileDescriptorProto {
	found, err := protoregistry.GlobalFiles.FindFileByPath(csiProto)
	if err != nil {
		panic(err)
	}
	return protodesc.ToFileDescriptorProto(found)
}
