# nixpkgs.overlays = [ (import ./overlay.nix) ];
# boot.kernelPackages = pkgs.linuxPackagesFor (pkgs.btfliteKernel pkgs.linux);
final: prev: {
  btflite = final.buildGoModule {
    pname = "btflite";
    version = "@VERSION@";
    src = final.fetchurl {
      url = "@URL@/btflite-@VERSION@.tar.gz";
      sha256 = "@SUM:tar.gz@";
    };
    vendorHash = null; # the archive has vendor/
    subPackages = [ "cmd/btflite" ];
    env.CGO_ENABLED = 0;
    preBuild = "export GOFLAGS=\"$GOFLAGS -pgo=$PWD/cmd/btflite/btflite.pgo\"";
    ldflags = [ "-s" "-w" "-X main.linkedVersion=v@VERSION@" ];
    nativeBuildInputs = [ final.installShellFiles ];
    postInstall = ''
      installManPage docs/man/*.1
      installShellCompletion --cmd btflite \
        --bash <($out/bin/btflite completion bash) \
        --fish <($out/bin/btflite completion fish) \
        --zsh <($out/bin/btflite completion zsh)
    '';
    meta = {
      description = "BTF from DWARF, with little memory";
      homepage = "@HOMEPAGE@";
      license = final.lib.licenses.mit;
      mainProgram = "btflite";
    };
  };

  # A kernel whose build calls btflite where it would call pahole.
  btfliteKernel = kernel: kernel.overrideAttrs (old: {
    nativeBuildInputs = old.nativeBuildInputs ++ [ final.btflite ];
    makeFlags = (old.makeFlags or [ ]) ++ [ "PAHOLE=${final.btflite}/bin/btflite" ];
  });
}
