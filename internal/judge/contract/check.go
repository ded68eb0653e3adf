package contract

import (
	"github.com/csisim/csisim/internal/judge/verdict"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
)

// CheckResponse checks a driver's answer to a successful call against the CSI spec. The method is
// named as in the trace, "Controller/CreateVolume". req is the request of the answer. caps may be
// nil.
func CheckResponse(method string, req, resp proto.Message, caps *Caps) []verdict.Verdict {
	f, ok := start(method, resp)
	if !ok {
		return nil
	}
	f.response(req, resp, orNothing(caps))
	return f.list
}

func (f *findings) response(req, resp proto.Message, known Caps) {
	f.sizesOf(resp)
	f.secretsReturned(req, resp)
	f.identityResponse(resp, known)
	f.controllerResponse(req, resp, known)
	f.listResponse(req, resp, known)
	f.snapshotResponse(req, resp, known)
	f.groupResponse(req, resp, known)
	f.nodeResponse(req, resp, known)
}

// CheckRequest checks a request of Kubernetes against the CSI spec. It checks the request's fields,
// and that the driver has declared the capabilities that the request uses.
func CheckRequest(method string, req proto.Message, caps *Caps) []verdict.Verdict {
	f, ok := start(method, req)
	if !ok {
		return nil
	}
	f.request(req, orNothing(caps))
	return f.list
}

func (f *findings) request(req proto.Message, known Caps) {
	f.sizesOf(req)
	f.callPromised(known)
	f.controllerRequest(req, known)
	f.groupRequest(req)
	f.nodeRequest(req, known)
}

// CheckError checks the code of a failed call against the CSI spec. It reports only errors that the
// spec excludes: codes that do not exist, "not implemented" for a declared capability, and "not
// found" if the deletion of a deleted object must succeed.
func CheckError(method string, req proto.Message, code codes.Code, caps *Caps) []verdict.Verdict {
	f, ok := start(method, req)
	if !ok {
		return nil
	}
	f.failure(code, caps)
	return f.list
}

func (f *findings) failure(code codes.Code, caps *Caps) {
	const canonical = "the CSI spec wants a canonical gRPC code"
	switch {
	case code > codes.Unauthenticated:
		f.add("", canonical, "is answered with code %d", code)
		return
	case code == codes.Unimplemented && mustImplement(f.method, orNothing(caps)):
		f.add("", "the CSI spec requires the call of a driver with these capabilities", "is answered with Unimplemented")
	case code == codes.NotFound && deletes[f.method]:
		f.add("", "the CSI spec wants OK for what does not exist", "is answered with NotFound")
	}
	f.keep("", canonical)
}

var deletes = map[string]bool{"Controller/DeleteVolume": true, "Controller/DeleteSnapshot": true, groupDelete: true}

func start(method string, m proto.Message) (findings, bool) {
	if m == nil || !m.ProtoReflect().IsValid() {
		return findings{}, false
	}
	return findings{method: method, of: m}, true
}

func orNothing(caps *Caps) Caps {
	if caps == nil {
		return Caps{}
	}
	return *caps
}
