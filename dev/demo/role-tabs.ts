import type { GraphiqlTab } from '../../src/transport/graphiql-page.ts';
import type { SeededOrders } from './seed.ts';
import type { DemoTokens } from '../sign-token.ts';

/**
 * The tabs of GraphiQL beside the customer's: what is live, what moves money, and what the other roles do. Each speaks for whom
 * its comment names, by the token in its headers, and runs as it is, again and again.
 */
export function roleTabs(tokens: DemoTokens, { toCharge, toRefund }: SeededOrders): readonly GraphiqlTab[] {
  return [
    { query: watchOrder(toCharge), token: tokens.customer },
    { query: charge(toCharge), token: tokens.customer },
    { query: refund(toRefund), token: tokens.merchant },
    { query: CASH_TOP_UP, token: tokens.terminal },
    { query: QUEUES, token: tokens.admin },
  ];
}

function watchOrder(orderId: string): string {
  return `# As alice, live: what happened to the order that the tab Charge pays, and then what happens to it.
# A tab stops when another is opened: leave this one running, and charge in a second window of this page.
subscription WatchOrder {
  orderTransitions(orderId: "${orderId}") {
    version
    from
    to
    cause
    detail
    at
  }
}
`;
}

function charge(orderId: string): string {
  return `# As alice: pays a coffee from the wallet. Run it five times: one charge, and "replayed" says so.
mutation Charge {
  charge(idempotencyKey: "graphiql-charge-1", input: { orderId: "${orderId}" }) {
    __typename
    ... on ChargeSuccess {
      replayed
      order {
        state
        amount
        currency
      }
      balance {
        amount
      }
    }
    ... on Failure {
      message
      retry
    }
  }
}
`;
}

function refund(orderId: string): string {
  return `# As the merchant: gives bob 100 of his 350 yen for toast back, to the wallet that paid.
mutation Refund {
  refund(
    idempotencyKey: "graphiql-refund-1"
    input: { orderId: "${orderId}", amount: "100", reason: "burnt" }
  ) {
    __typename
    ... on RefundSuccess {
      replayed
      refund {
        amount
        state
      }
      order {
        state
        refundableAmount
      }
    }
    ... on Failure {
      message
      retry
    }
  }
}
`;
}

const CASH_TOP_UP = `# As the till: bob paid 500 yen in cash, and his wallet has them at once.
mutation CashTopUp {
  topUp(
    idempotencyKey: "graphiql-cash-top-up-1"
    input: { accountId: "bob", amount: "500", method: CASH }
  ) {
    __typename
    ... on TopUpSuccess {
      replayed
      order {
        state
      }
      balance {
        amount
      }
    }
    ... on Failure {
      message
      retry
    }
  }
}
`;

const QUEUES = `# As the admin: what somebody has to look at. All are empty while all goes well.
query Queues {
  deadSteps(first: 10) {
    edges {
      node {
        name
        attempts
        lastError
        order {
          id
          state
        }
      }
    }
  }
  proposals(first: 10) {
    edges {
      node {
        id
        kind
        reason
        proposedBy
        expiresAt
      }
    }
  }
  webhookProblems(first: 10) {
    edges {
      node {
        providerEventId
        type
        outcome
        detail
      }
    }
  }
}
`;
