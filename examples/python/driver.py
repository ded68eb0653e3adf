"""A CSI driver in Python: a volume is a directory, bound to the path that a pod uses.

csi_pb2.py and csi_pb2_grpc.py are made from csi.proto of the CSI specification.
"""
import os
import shutil
import subprocess
import sys
import threading
from concurrent import futures

import grpc

import csi_pb2 as csi
import csi_pb2_grpc as services

endpoint, node_id, root = sys.argv[1:]
lock = threading.Lock()  # calls change mounts one after the other


def volume(volume_id):
    return os.path.join(root, os.path.basename(volume_id))


class Identity(services.IdentityServicer):
    def GetPluginInfo(self, request, context):
        return csi.GetPluginInfoResponse(name="python.example.com", vendor_version="0.1.0")

    def GetPluginCapabilities(self, request, context):
        service = csi.PluginCapability.Service(type="CONTROLLER_SERVICE")
        return csi.GetPluginCapabilitiesResponse(capabilities=[csi.PluginCapability(service=service)])

    def Probe(self, request, context):
        return csi.ProbeResponse()


class Controller(services.ControllerServicer):
    def ControllerGetCapabilities(self, request, context):
        rpc = csi.ControllerServiceCapability.RPC(type="CREATE_DELETE_VOLUME")
        return csi.ControllerGetCapabilitiesResponse(
            capabilities=[csi.ControllerServiceCapability(rpc=rpc)])

    def CreateVolume(self, request, context):
        if not request.name or any(c.HasField("block") for c in request.volume_capabilities):
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "a file system with a name is needed")
        os.makedirs(volume(request.name), exist_ok=True)
        return csi.CreateVolumeResponse(volume=csi.Volume(volume_id=request.name))

    def DeleteVolume(self, request, context):
        if os.path.isdir(volume(request.volume_id)):
            shutil.rmtree(volume(request.volume_id))  # an error is an error of the call
        return csi.DeleteVolumeResponse()

    def ValidateVolumeCapabilities(self, request, context):
        confirmed = csi.ValidateVolumeCapabilitiesResponse.Confirmed(
            volume_capabilities=request.volume_capabilities)
        return csi.ValidateVolumeCapabilitiesResponse(confirmed=confirmed)


class Node(services.NodeServicer):
    def NodeGetInfo(self, request, context):
        return csi.NodeGetInfoResponse(node_id=node_id)

    def NodeGetCapabilities(self, request, context):
        return csi.NodeGetCapabilitiesResponse()

    def NodePublishVolume(self, request, context):
        with lock:
            target = request.target_path
            if not mounted(target):
                os.makedirs(target, exist_ok=True)
                options = "bind,ro" if request.readonly else "bind"
                subprocess.run(["mount", "-o", options, volume(request.volume_id), target], check=True)
        return csi.NodePublishVolumeResponse()

    def NodeUnpublishVolume(self, request, context):
        with lock:
            target = request.target_path
            if mounted(target):
                subprocess.run(["umount", target], check=True)
            if os.path.isdir(target):
                os.rmdir(target)
        return csi.NodeUnpublishVolumeResponse()


def mounted(path):
    """os.path.ismount misses bind mounts within one file system."""
    with open("/proc/self/mountinfo") as mounts:
        return any(line.split()[4] == path for line in mounts)


server = grpc.server(futures.ThreadPoolExecutor())
services.add_IdentityServicer_to_server(Identity(), server)
services.add_ControllerServicer_to_server(Controller(), server)
services.add_NodeServicer_to_server(Node(), server)
server.add_insecure_port(endpoint)
server.start()
server.wait_for_termination()
