// A CSI driver in Node.js: a volume is a directory, bound to the path that a pod uses.
// csi.proto of the CSI specification lies beside this file.
const fs = require('node:fs');
const path = require('node:path');
const { execFileSync } = require('node:child_process');
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

const [endpoint, nodeId, root] = process.argv.slice(2);
const proto = loader.loadSync(path.join(__dirname, 'csi.proto'), { keepCase: true });
const { csi } = grpc.loadPackageDefinition(proto);

const mounted = (target) => fs.existsSync(target) && spawnsOk('mountpoint', '-q', target);
const volume = (id) => path.join(root, path.basename(id));

function spawnsOk(...command) {
  try {
    execFileSync(command[0], command.slice(1));
    return true;
  } catch {
    return false;
  }
}

// answers turns a function from request to response into a gRPC handler.
const answers = (handle) => (call, callback) => {
  try {
    callback(null, handle(call.request));
  } catch (error) {
    callback({ code: error.code in grpc.status ? error.code : grpc.status.INTERNAL, message: error.message });
  }
};

const service = (definition, handlers) =>
  [definition.service, Object.fromEntries(Object.entries(handlers).map(([k, f]) => [k, answers(f)]))];

const server = new grpc.Server();
server.addService(...service(csi.v1.Identity, {
  GetPluginInfo: () => ({ name: 'nodejs.example.com', vendor_version: '0.1.0' }),
  GetPluginCapabilities: () => ({ capabilities: [{ service: { type: 'CONTROLLER_SERVICE' } }] }),
  Probe: () => ({}),
}));
server.addService(...service(csi.v1.Controller, {
  ControllerGetCapabilities: () => ({ capabilities: [{ rpc: { type: 'CREATE_DELETE_VOLUME' } }] }),
  CreateVolume: (r) => {
    if (!r.name || r.volume_capabilities.some((c) => c.block)) {
      throw Object.assign(new Error('a file system with a name is needed'), { code: grpc.status.INVALID_ARGUMENT });
    }
    fs.mkdirSync(volume(r.name), { recursive: true });
    return { volume: { volume_id: r.name } };
  },
  DeleteVolume: (r) => {
    fs.rmSync(volume(r.volume_id), { recursive: true, force: true });
    return {};
  },
  ValidateVolumeCapabilities: (r) => ({ confirmed: { volume_capabilities: r.volume_capabilities } }),
}));
server.addService(...service(csi.v1.Node, {
  NodeGetInfo: () => ({ node_id: nodeId }),
  NodeGetCapabilities: () => ({}),
  NodePublishVolume: (r) => {
    if (mounted(r.target_path)) return {};
    fs.mkdirSync(r.target_path, { recursive: true });
    const options = r.readonly ? 'bind,ro' : 'bind';
    execFileSync('mount', ['-o', options, volume(r.volume_id), r.target_path]);
    return {};
  },
  NodeUnpublishVolume: (r) => {
    if (mounted(r.target_path)) execFileSync('umount', [r.target_path]);
    fs.rmSync(r.target_path, { recursive: true, force: true });
    return {};
  },
}));
fs.rmSync(endpoint.replace(/^unix:(\/\/)?/, ''), { force: true }); // a killed driver leaves its socket
server.bindAsync(endpoint, grpc.ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
});
