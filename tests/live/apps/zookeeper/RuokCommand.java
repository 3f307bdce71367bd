package org.apache.zookeeper.server.command;

import java.io.PrintWriter;
import org.apache.zookeeper.server.ServerCnxn;

/** The server's own class of this name, with another answer; that one's is "imok". */
public class RuokCommand extends AbstractFourLetterCommand {
	public RuokCommand(PrintWriter out, ServerCnxn connection) {
		super(out, connection);
	}

	@Override
	public void commandRun() {
		pw.print("patched");
	}
}
