"""What others do to a network that runs: its uplink, rules and addresses go, and are back."""

from namespaces import Namespace, pings, sh
from processes import Failure, wait_for
from run import expect
from tap_support import GATEWAY, start, vm

SOON = 10
TABLE = "inet vmswitch-vms-default"


def setting(name):
    return sh(f"sysctl -n net.{name}").strip()


def address6():
    words = sh("ip -6 -o address show dev vms-default scope global").split()
    return words[3] if len(words) > 3 else None


def expect_rules_again(run, switch, guest, removal, sign):
    sh(removal)
    wait_for(
        f"the rules after {removal}",
        lambda: sign in sh(f"nft list table {TABLE}", check=False),
        SOON,
    )
    if not pings(guest, GATEWAY):
        raise Failure(f"after {removal} the network does not work:\n{switch.log()}")
    run.step(f"{removal}: the rules are back")


def expect_addresses_again(run, switch, guest):
    before = address6()
    if not before:
        raise Failure("there is no IPv6 address to lose: this test shows nothing")
    for harm in (
        "ip address flush dev vms-default scope global",
        "ip link set vms-default down; ip link set vms-default up",
    ):
        sh(harm, check=False)  # a flush that finds new ones each time gives up
        wait_for(f"IPv6 after {harm}", lambda: address6() == before, SOON)
        wait_for(f"IPv4 after {harm}", lambda: pings(guest, GATEWAY, 1), SOON)
        run.step(f"{harm}: the addresses are back")
    if f"lost its address {GATEWAY}/24: it has it again" not in switch.log():
        raise Failure(f"nothing is said of it:\n{switch.log()}")


def warnings_of_rules(switch):
    return switch.log().count("removed the nftables rules of vms-default")


def scenario_repair_shared(run):
    world = Namespace(run, "world")

    def connect():
        world.cable("w0", "eth0", ["10.9.0.1/24"], ["10.9.0.2/24"])
        sh("ip route add default via 10.9.0.1")

    connect()
    switch = start(run, "--vmnet-mode=shared")
    guest = vm(run, switch, "a", 1, "192.168.105.11/24")
    guest.run(f"ip route add default via {GATEWAY}")
    if not pings(guest, "10.9.0.1"):
        raise Failure("the VM does not reach the world")

    sh("ip link delete eth0")
    connect()
    forwarding = "ipv4.conf.eth0.forwarding"
    wait_for("forwarding on the new eth0", lambda: setting(forwarding) == "1", SOON)
    if not pings(guest, "10.9.0.1"):
        raise Failure("the VM does not reach the world through the new eth0")
    run.step("the uplink went, and came back under its name")

    if setting("ipv6.conf.all.forwarding") == "1":
        sh("ip link add new0 type veth peer name new1; ip link set new0 up")
        wait_for(
            "a new device is closed to others",
            lambda: '"new0"' in sh(f"nft list set {TABLE} closed6"),
            SOON,
        )
        wait_for(
            "router advertisements are taken on it",
            lambda: setting("ipv6.conf.new0.accept_ra") == "2",
            SOON,
        )
        run.step("a new device is forwarded from no more than the others")

    sh("nft add table inet other; nft delete table inet other")
    expect_rules_again(run, switch, guest, "nft flush ruleset", "masquerade")
    wait_for(
        "one warning: another's table gives none", lambda: warnings_of_rules(switch) == 1, SOON
    )
    expect_rules_again(run, switch, guest, f"nft flush table {TABLE}", "masquerade")
    if not pings(guest, "10.9.0.1"):
        raise Failure("the VM does not reach the world with the new rules")
    expect_addresses_again(run, switch, guest)

    switch.stop()
    expect(sh("nft list ruleset").strip(), "", "rules after SIGTERM")
    for name in (forwarding, "ipv6.conf.all.forwarding"):
        expect(setting(name), "0", f"{name} after SIGTERM")


def scenario_repair_host(run):
    switch = start(run, "--vmnet-mode=host")
    guest = vm(run, switch, "a", 1, "192.168.105.11/24")
    expect_rules_again(run, switch, guest, "nft flush ruleset", 'oifname "vms-default" drop')
    wait_for("a warning", lambda: warnings_of_rules(switch) == 1, SOON)
    expect_addresses_again(run, switch, guest)
    switch.stop()
    expect(sh("nft list ruleset").strip(), "", "rules after SIGTERM")

    # Of a TAP that is somebody's, they are told what to do.
    sh("ip tuntap add dev mine mode tap")
    switch = start(run, "--vmnet-mode=host", "--vmnet-interface=mine")
    sh("ip -4 address flush dev mine")
    wait_for(
        "a warning",
        lambda: f'until you run "ip address add {GATEWAY}/24 dev mine"' in switch.log(),
        SOON,
    )
    switch.stop()
    run.step("an address that somebody takes from a TAP of theirs stays away, with a warning")
